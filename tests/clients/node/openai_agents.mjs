// The Agents SDK of JavaScript: its runner calls the tools itself and sends their results back.
import { Agent, ModelBehaviorError, OpenAIResponsesModel, Runner, applyDiff, applyPatchTool, setTracingDisabled, tool, user } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import { PERSON, PROMPT, QUESTION, TOOLS, TURNS, failed, main } from "./cases.mjs";

setTracingDisabled(true);
const Person = z.object({ name: z.string(), age: z.int(), tags: z.array(z.string()) });
const runner = new Runner({ tracingDisabled: true });
const agent = ({ baseURL, key, model }, more = {}) => {
  const openai = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
  return new Agent({ name: "Helper", instructions: "You help.", model: new OpenAIResponsesModel(openai, model), ...more });
};
const asked = (content) => [{ type: "message", role: "user", content }];

const scenarios = {
  async text(at) {
    return { text: (await runner.run(agent(at), PROMPT)).finalOutput };
  },

  async stream(at) {
    const modelSettings = { reasoning: { summary: "auto" } };
    const run = await runner.run(agent(at, { modelSettings }), PROMPT, { stream: true });
    const words = [];
    for await (const event of run) {
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") words.push(event.data.delta);
    }
    await run.completed;
    if (words.join("") !== run.finalOutput) throw new Error("deltas and text differ");
    const items = run.newItems.filter((item) => item.type === "reasoning_item").map((item) => item.rawItem);
    const thoughts = items.flatMap((item) => item.content.map((part) => part.text));
    return { text: run.finalOutput, thoughts, pieces: words.length > 3 };
  },

  async tools(at) {
    const called = [];
    const tools = Object.entries(TOOLS).map(([name, { description, of, run }]) =>
      tool({ name, description, parameters: z.object({ [of]: z.string() }), execute: run }),
    );
    const run = await runner.run(agent(at, { tools, modelSettings: { parallelToolCalls: true } }), QUESTION, { stream: true });
    for await (const event of run) {
      if (event.type === "run_item_stream_event" && event.name === "tool_called") called.push(event.item.rawItem.name);
    }
    await run.completed;
    return { text: run.finalOutput, called };
  },

  async structured(at) {
    return { answer: (await runner.run(agent(at, { outputType: Person }), PERSON)).finalOutput };
  },

  async image(at) {
    const content = [{ type: "input_text", text: "What is it?" }, { type: "input_image", image: at.image }];
    return { text: (await runner.run(agent(at), asked(content))).finalOutput };
  },

  async file(at) {
    const content = [{ type: "input_file", file: at.file, filename: at.filename }];
    return { text: (await runner.run(agent(at), asked(content))).finalOutput };
  },

  async turns(at) {
    let history = [];
    let run;
    for (const said of TURNS) {
      run = await runner.run(agent(at), [...history, user(said)]);
      history = run.history;
    }
    return { text: run.finalOutput };
  },

  async kept(at) {
    let run;
    for (const said of TURNS) run = await runner.run(agent(at), said, { previousResponseId: run?.lastResponseId });
    return { text: run.finalOutput };
  },

  async patch(at) {
    const files = {};
    const refuse = () => Promise.reject(new Error("not asked for"));
    const editor = {
      async createFile({ path, diff }) {
        files[path] = applyDiff("", diff, "create");
        return { status: "completed", output: `Made ${path}.` };
      },
      updateFile: refuse,
      deleteFile: refuse,
    };
    const run = await runner.run(agent(at, { tools: [applyPatchTool({ editor })] }), "Make a file.");
    return { text: run.finalOutput, made: files["new.txt"] };
  },

  async failing(at) {
    try {
      await runner.run(agent(at), PROMPT);
    } catch (error) {
      return { failed: error.code };
    }
  },

  async broken(at) {
    try {
      const run = await runner.run(agent(at), PROMPT, { stream: true });
      for await (const _ of run);
      await run.completed;
      return { failed: `not at all: ${run.finalOutput}` };
    } catch (error) {
      return error instanceof ModelBehaviorError && error.message.includes("response.failed") ? { failed: "server_error" } : failed(error);
    }
  },
};

await main(scenarios);
