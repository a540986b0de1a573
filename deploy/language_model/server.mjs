// A small language model behind OpenAI's chat completions, for tests: node server.mjs MODEL.gguf [PORT]
// Prints its base URL when it can be asked. Answers follow the JSON schema of the request; one call at a time.
import http from 'node:http';
import {getLlama, LlamaChatSession} from 'node-llama-cpp';

const [modelPath, port = '0'] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: 'never', maxThreads: 1, logLevel: 'error'});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: 4096, threads: 1});

async function grammar(format) {
  if (format?.type === 'json_schema') return llama.createGrammarForJsonSchema(format.json_schema.schema);
  if (format?.type === 'json_object') return llama.getGrammarFor('json');
  return undefined;
}

async function complete({model: name, messages, response_format: format, max_tokens: maxTokens = 256, temperature = 0}) {
  const said = {system: 'system', user: 'user', assistant: 'model'};
  const sequence = context.getSequence();
  try {
    const session = new LlamaChatSession({contextSequence: sequence});
    session.setChatHistory(messages.slice(0, -1).map(({role, content}) =>
      role === 'assistant' ? {type: 'model', response: [content]} : {type: said[role], text: content}));
    const last = messages.at(-1).content;
    const options = {maxTokens, temperature, grammar: await grammar(format)};
    const {responseText, stopReason} = await session.promptWithMeta(last, options);
    const count = text => model.tokenize(text).length;
    const prompt = messages.reduce((sum, {content}) => sum + count(content), 0);
    const message = {role: 'assistant', content: responseText};
    return {
      object: 'chat.completion', model: name,
      choices: [{index: 0, message, finish_reason: stopReason === 'maxTokens' ? 'length' : 'stop'}],
      usage: {prompt_tokens: prompt, completion_tokens: count(responseText), total_tokens: prompt + count(responseText)},
    };
  } finally {
    sequence.dispose();
  }
}

let turn = Promise.resolve();
const server = http.createServer(async (request, response) => {
  const send = (status, body) => {
    response.writeHead(status, {'content-type': 'application/json'});
    response.end(JSON.stringify(body));
  };
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    return send(404, {error: {message: 'there is only POST /v1/chat/completions'}});
  }
  const parts = [];
  for await (const part of request) parts.push(part);
  turn = turn.then(async () => {
    try {
      send(200, await complete(JSON.parse(Buffer.concat(parts))));
    } catch (error) {
      send(500, {error: {message: String(error)}});
    }
  });
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
