// Runs the cases that the tests ask for on standard input, and tells what came of each: a line of JSON on standard output.
// What a client warns of (process warnings, console.warn, console.error) is a problem, as an error is.

export const PROMPT = "hello, wörld 🌍";
export const QUESTION = "How is the weather in Paris and Oslo, and what time is it?";
export const PERSON = "Who wrote the first program?";
export const TURNS = ["My name is Ada.", "I live in Rome.", "Who am I?"];
export const TOOLS = {
  weather: { description: "Tells the weather.", of: "city", run: ({ city }) => ({ Paris: "sunny", Oslo: "rain" })[city] },
  clock: { description: "Tells the time.", of: "zone", run: ({ zone }) => `noon in ${zone}` },
};
const CODES = ["server_error", "context_length_exceeded"];

// The code in an error whose class has no field for it.
export const failed = (error) => ({ failed: CODES.find((code) => `${error} ${JSON.stringify(error)}`.includes(code)) ?? String(error) });

export async function main(scenarios) {
  let given = "";
  for await (const piece of process.stdin.setEncoding("utf8")) given += piece;
  const { cases, base_url, ...shown } = JSON.parse(given);
  for (const asked of cases) {
    const problems = [];
    const warned = (...words) => problems.push(words.map(String).join(" "));
    process.on("warning", warned);
    console.warn = console.error = warned;
    let told;
    try {
      told = { result: await scenarios[asked.scenario]({ ...shown, baseURL: base_url, model: `${asked.upstream}/${asked.scenario}` }) };
    } catch (error) {
      told = { error: error.stack ?? String(error) };
    }
    process.off("warning", warned);
    process.stdout.write(JSON.stringify({ ...asked, ...told, problems }) + "\n");
  }
  process.exit(0); // whatever a client keeps alive
}
