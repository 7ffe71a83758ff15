// The tools of this package: one function each. spark-tool.json describes them.

import { serve, ToolError } from './spark-tool.mjs'; // before whatever may print: from here on, stdout is stderr

import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const HELLO = { en: 'Hello', de: 'Hallo', es: 'Hola', fr: 'Bonjour', ja: 'こんにちは' };

function greet({ name, language }) {
  if (!name.trim()) throw new ToolError('BLANK_NAME', 'the name has no visible character');
  const end = process.env.GREETING_END ?? '!';
  return { greeting: `${HELLO[language]}, ${name}${end}` };
}

async function addNote({ text }, call) {
  const folder = process.env.SPARK_TOOL_DATA_DIR;
  if (!folder) throw new ToolError('NO_DATA_FOLDER', 'this host names no folder that the tool may write to');
  const path = join(folder, 'notes.jsonl');
  await appendFile(path, `${JSON.stringify(text)}\n`);
  const count = (await readFile(path, 'utf8')).split('\n').length - 1;
  call.log(`notes in ${path}: ${count}`, 'debug');
  return { text, count };
}

serve({ greet, add_note: addNote });
