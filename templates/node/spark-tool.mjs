// Speaks spark-tool-process-v1 over stdin and stdout, so that a tool is a plain function. It is yours: change it freely.
//
//   import { serve } from './spark-tool.mjs';
//   serve({ add: ({ a, b }) => ({ sum: a + b }) });
//
// A tool gets its input, checked and with defaults filled in, and the call; it returns anything that JSON can say, or a
// promise of it. Calls that are open at the same time run side by side. Node 18 or newer, nothing else.
// Numbers are JavaScript's: an integer beyond 2^53 loses digits. Let large ids be strings.

import { randomUUID } from 'node:crypto';

const PROTOCOL = 'spark-tool-process-v1';
const FRAME_BYTES = 4 * 1024 * 1024; // the most bytes of a line, in both directions
const STOP_MS = 700; // for open calls to come to an end; the host waits 1 s after `shutdown`

// stdout carries frames and nothing else: from here on console.log, and whatever writes to process.stdout, goes to
// stderr. Import this module before whatever may print while it loads. A child process that inherits stdout is not
// caught: give it `stdio: ['ignore', 'pipe', 'inherit']`.
const writeFrame = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Thrown by a tool to answer with an error: a code for programs, a message for people and models. */
export class ToolError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** One call of a tool. */
class Call {
  #frame;
  #abort = new AbortController();
  #answers = new Map(); // of capability requests: id -> [resolve, reject]

  constructor(frame) {
    this.#frame = frame;
    this.id = frame.invocationId;
    this.tool = frame.toolName;
    this.context = frame.context ?? {}; // correlationId, deadlineMs, locale, caller; any may be missing
  }

  /** Aborted when the caller doesn't wait any longer. Hand it to fetch, timers and child processes. */
  get signal() {
    return this.#abort.signal;
  }

  /** Writes to the host's log. Levels: debug, info, warn, error. */
  log(message, level = 'info') {
    send('log', randomUUID(), { invocationId: this.id, level, message: cut(message, 32_000) });
  }

  /** Says how much is done, from 0 to 1. */
  progress(done, message) {
    const more = message ? { message: cut(message, 4_000) } : {};
    send('progress', randomUUID(), { invocationId: this.id, progress: Math.min(Math.max(done, 0), 1), ...more });
  }

  /** Asks the host to do something that the manifest's `permissions` name; a promise of its answer. */
  async capability(name, input = null) {
    this.signal.throwIfAborted();
    const request = randomUUID();
    const answer = new Promise((resolve, reject) => this.#answers.set(request, [resolve, reject]));
    send('capability.request', request, { invocationId: this.id, capability: name, input });
    return answer.finally(() => this.#answers.delete(request));
  }

  answerCapability(frame) {
    const [resolve, reject] = this.#answers.get(frame.requestId) ?? [];
    if (frame.type === 'capability.error') reject?.(new ToolError(frame.code, frame.message));
    else resolve?.(frame.result);
  }

  cancel() {
    const reason = new ToolError('CANCELLED', 'the call was cancelled');
    this.#abort.abort(reason);
    for (const [, reject] of this.#answers.values()) reject(reason);
  }

  async run(tool) {
    try {
      const result = await tool(this.#frame.input, this);
      send('result', this.#frame.requestId, { invocationId: this.id, result: result ?? null });
    } catch (error) {
      this.fail(this.signal.aborted ? this.signal.reason : error);
    }
  }

  fail(error) {
    const isExpected = error instanceof ToolError;
    if (!isExpected) console.error(error);
    const code = isExpected ? error.code : 'TOOL_FAILED';
    const message = isExpected ? error.message : String(error);
    const fields = { code: cut(code, 160) || 'TOOL_FAILED', message: cut(message, 4_000) || 'no message' };
    send('error', this.#frame.requestId, { invocationId: this.id, ...fields });
  }
}

/** Answers frames until the host says `shutdown` or closes stdin. `tools` has a function for each tool's name. */
export function serve(tools) {
  if (process.stdin.isTTY) console.error('This program talks to a host in JSON lines. Try: spark-tool test');
  const calls = new Map(); // open calls: invocation id -> [Call, promise of its end]
  let isStopping = false;

  const stop = async (status) => {
    if (isStopping) return;
    isStopping = true;
    for (const [call] of calls.values()) call.cancel();
    const ends = [...calls.values()].map(([, end]) => end);
    await Promise.race([Promise.all(ends), new Promise((resolve) => setTimeout(resolve, STOP_MS))]);
    writeFrame('', () => process.exit(status)); // once all before it is written
  };

  // An error outside of the promise that a tool returned: nobody knows whose it was, or what still works.
  process.on('uncaughtException', (error) => {
    if (isStopping) return;
    for (const [call] of calls.values()) call.fail(error);
    if (calls.size === 0) console.error(error);
    calls.clear();
    stop(1);
  });

  const receive = (frame) => {
    const [call] = calls.get(frame?.invocationId) ?? [];
    switch (frame?.type) {
      case 'initialize':
        return send('ready', frame.requestId, {});
      case 'invoke': {
        const started = new Call(frame);
        if (!Object.hasOwn(tools, started.tool)) {
          return started.fail(new ToolError('UNKNOWN_TOOL', `there is no tool ${started.tool}`));
        }
        const end = started.run(tools[started.tool]).finally(() => calls.delete(started.id));
        return calls.set(started.id, [started, end]);
      }
      case 'cancel':
        return call?.cancel();
      case 'capability.result':
      case 'capability.error':
        return call?.answerCapability(frame);
      case 'shutdown':
        return stop(0);
    }
  };

  let pieces = []; // of a line whose end hasn't come yet
  process.stdin.on('data', (chunk) => {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
      pieces.push(chunk.subarray(start, end));
      const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      pieces = [];
      const frame = parse(line.toString('utf8'));
      if (!isStopping) receive(frame);
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  process.stdin.on('end', () => stop(0));
  process.stdin.on('error', () => stop(1));
  process.stdout.on('error', () => process.exit(1)); // nobody reads any more
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (line.trim()) console.error(`a line that is no frame was ignored: ${error.message}`);
  }
}

let sequence = 0;

function send(type, requestId, fields) {
  let line;
  try {
    line = JSON.stringify({ protocolVersion: PROTOCOL, type, requestId, sequence, ...fields }, sendable);
  } catch (error) {
    throw new ToolError('BAD_RESULT', `not JSON in UTF-8: ${error.message}`);
  }
  const bytes = Buffer.byteLength(line);
  if (bytes > FRAME_BYTES) {
    throw new ToolError('BAD_RESULT', `${bytes} bytes are too many, a frame has at most ${FRAME_BYTES}`);
  }
  sequence += 1;
  writeFrame(`${line}\n`);
}

/** Refuses what JSON.stringify would silently change into null, or into text that other languages can't read. */
function sendable(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is no number of JSON`);
  if (isBroken(key) || (typeof value === 'string' && isBroken(value))) throw new TypeError('half a character');
  return value;
}

const isBroken = (text) => /\p{Surrogate}/u.test(text);

/** At most so many UTF-16 units, which is how the protocol counts, and no half characters. */
function cut(text, units) {
  return String(text).slice(0, units).replace(/\p{Surrogate}/gu, '');
}
