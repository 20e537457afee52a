// The AI SDK with its OpenAI provider, which reads answers and events through zod.
import { createOpenAI } from "@ai-sdk/openai";
import { Output, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { PERSON, PROMPT, QUESTION, TOOLS, TURNS, failed, main } from "./cases.mjs";

const stateless = (more) => ({ providerOptions: { openai: { store: false, ...more } } });
// It sends thoughts back in sealed form only, and says so.
const unsealed = (warning) => warning.message?.startsWith("Reasoning parts without encrypted content");
globalThis.AI_SDK_LOG_WARNINGS = ({ warnings }) => warnings.filter((one) => !unsealed(one)).forEach((one) => console.warn(JSON.stringify(one)));
const Person = z.object({ name: z.string(), age: z.int(), tags: z.array(z.string()) });
const to = ({ baseURL, key, model }) => ({ model: createOpenAI({ baseURL, apiKey: key }).responses(model), maxRetries: 0 });
const asked = (content) => [{ role: "user", content }];
const bytes = (url) => Buffer.from(url.split(",")[1], "base64");

const scenarios = {
  async text(at) {
    return { text: (await generateText({ ...to(at), prompt: PROMPT })).text };
  },

  async stream(at) {
    const run = streamText({ ...to(at), prompt: PROMPT, ...stateless({ reasoningSummary: "auto", forceReasoning: true }), onError: ({ error }) => console.error(error) });
    const words = [];
    for await (const part of run.fullStream) {
      if (part.type === "text-delta") words.push(part.text);
      if (part.type === "error" || part.type === "unknown") throw new Error(JSON.stringify(part));
    }
    const thoughts = (await run.reasoning).map((part) => part.text).filter(Boolean);
    return { text: words.join(""), thoughts, pieces: words.length > 3 };
  },

  async tools(at) {
    const tools = Object.fromEntries(
      Object.entries(TOOLS).map(([name, { description, of, run }]) => [
        name,
        tool({ description, inputSchema: z.object({ [of]: z.string() }), execute: run }),
      ]),
    );
    const run = streamText({ ...to(at), prompt: QUESTION, tools, stopWhen: stepCountIs(3), onError: ({ error }) => console.error(error) });
    const text = await run.text;
    return { text, called: (await run.steps).flatMap((step) => step.toolCalls.map((call) => call.toolName)) };
  },

  async structured(at) {
    return { answer: (await generateText({ ...to(at), prompt: PERSON, output: Output.object({ schema: Person }) })).output };
  },

  async image(at) {
    const content = [{ type: "text", text: "What is it?" }, { type: "image", image: bytes(at.image), mediaType: "image/png" }];
    return { text: (await generateText({ ...to(at), messages: asked(content) })).text };
  },

  async file(at) {
    const content = [{ type: "file", data: bytes(at.file), mediaType: "application/pdf", filename: at.filename }];
    return { text: (await generateText({ ...to(at), messages: asked(content) })).text };
  },

  async turns(at) {
    const messages = [];
    let run;
    for (const said of TURNS) {
      messages.push(...asked(said));
      run = await generateText({ ...to(at), ...stateless(), messages });
      messages.push(...run.response.messages);
    }
    return { text: run.text };
  },

  // By references to what the gateway keeps: that is what it does of itself.
  async kept(at) {
    const messages = [];
    let run;
    for (const said of TURNS) {
      messages.push(...asked(said));
      run = await generateText({ ...to(at), messages });
      messages.push(...run.response.messages);
    }
    return { text: run.text };
  },

  async failing(at) {
    try {
      await generateText({ ...to(at), prompt: PROMPT });
    } catch (error) {
      return { failed: error.data.error.code };
    }
  },

  async broken(at) {
    const errors = [];
    const run = streamText({ ...to(at), prompt: PROMPT, onError: ({ error }) => errors.push(error) });
    let finish;
    for await (const part of run.fullStream) if (part.type === "finish") finish = part.finishReason;
    return finish === "error" ? failed(errors[0]) : { failed: `not at all: ${finish}` };
  },
};

await main(scenarios);
