// openai-node: its helpers that put a stream together throw where its events do not fit.
import OpenAI, { BadRequestError, RateLimitError } from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { PERSON, PROMPT, QUESTION, TOOLS, TURNS, main } from "./cases.mjs";

const Person = z.object({ name: z.string(), age: z.int(), tags: z.array(z.string()) });
const declared = Object.entries(TOOLS).map(([name, { description, of }]) =>
  zodResponsesFunction({ name, description, parameters: z.object({ [of]: z.string() }) }),
);
const client = ({ baseURL, key }) => new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
const asked = (content) => [{ role: "user", content }];

const scenarios = {
  async text(at) {
    return { text: (await client(at).responses.create({ model: at.model, input: PROMPT })).output_text };
  },

  async stream(at) {
    const stream = client(at).responses.stream({ model: at.model, input: PROMPT });
    const words = [];
    stream.on("response.output_text.delta", (event) => words.push(event.delta));
    const final = await stream.finalResponse();
    if (words.join("") !== final.output_text) throw new Error("deltas and text differ");
    const thoughts = final.output.filter((item) => item.type === "reasoning").flatMap((item) => [...item.summary, ...(item.content ?? [])]);
    return { text: final.output_text, thoughts: thoughts.map((part) => part.text), pieces: words.length > 3 };
  },

  async tools(at) {
    const input = asked(QUESTION);
    const stream = client(at).responses.stream({ model: at.model, input, tools: declared, parallel_tool_calls: true });
    const done = [];
    for await (const event of stream) if (event.type === "response.function_call_arguments.done") done.push(event.arguments);
    const response = await stream.finalResponse();
    const calls = response.output.filter((item) => item.type === "function_call");
    if (calls.map((call) => call.arguments).join() !== done.join()) throw new Error("events and calls differ");
    input.push(...response.output);
    for (const call of calls) {
      input.push({ type: "function_call_output", call_id: call.call_id, output: TOOLS[call.name].run(call.parsed_arguments ?? JSON.parse(call.arguments)) });
    }
    const final = await client(at).responses.parse({ model: at.model, input, tools: declared });
    return { text: final.output_text, called: calls.map((call) => call.name) };
  },

  async structured(at) {
    const text = { format: zodTextFormat(Person, "person") };
    return { answer: (await client(at).responses.parse({ model: at.model, input: PERSON, text })).output_parsed };
  },

  async image(at) {
    const input = asked([{ type: "input_text", text: "What is it?" }, { type: "input_image", image_url: at.image, detail: "high" }]);
    return { text: (await client(at).responses.create({ model: at.model, input })).output_text };
  },

  async file(at) {
    const input = asked([{ type: "input_file", filename: at.filename, file_data: at.file }]);
    return { text: (await client(at).responses.create({ model: at.model, input })).output_text };
  },

  async turns(at) {
    const input = [];
    let response;
    for (const said of TURNS) {
      input.push(...asked(said));
      response = await client(at).responses.create({ model: at.model, input });
      input.push(...response.output);
    }
    return { text: response.output_text };
  },

  async kept(at) {
    let response;
    for (const said of TURNS) {
      response = await client(at).responses.create({ model: at.model, input: said, previous_response_id: response?.id });
    }
    return { text: response.output_text };
  },

  async failing(at) {
    try {
      await client(at).responses.create({ model: at.model, input: PROMPT });
    } catch (error) {
      if (error instanceof BadRequestError) return { failed: error.code };
      throw error;
    }
  },

  async busy(at) {
    try {
      await client(at).responses.create({ model: at.model, input: PROMPT, stream: true });
    } catch (error) {
      if (error instanceof RateLimitError) return { failed: error.code };
      throw error;
    }
  },

  async broken(at) {
    let last;
    for await (const event of await client(at).responses.create({ model: at.model, input: PROMPT, stream: true })) last = event;
    return { failed: last.type === "response.failed" ? last.response.error.code : last.type };
  },

  async chat(at) {
    const words = [];
    const messages = asked(PROMPT);
    for await (const chunk of await client(at).chat.completions.create({ model: at.model, messages, stream: true })) {
      words.push(chunk.choices[0]?.delta.content ?? "");
    }
    return { text: words.join("") };
  },
};

await main(scenarios);
