// Reads YAML with the npm package `yaml` and tells what it sees: one JSON request a line in, one answer a line out.
// A request is the text; the answer has the trees of its documents and its comments, or the reason why there are none.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { Lexer, isAlias, isMap, isScalar, isSeq, parseAllDocuments } = createRequire(process.argv[2] + "/")("yaml");

function scalar(value) {
  if (value === null || value === undefined) return ["null", ""];
  if (typeof value === "bigint") return ["int", String(value)];
  if (typeof value === "number") return ["float", Object.is(value, -0) ? "-0" : String(value)];
  if (typeof value === "boolean") return ["bool", String(value)];
  return ["str", String(value)];
}

function tree(node) {
  if (node === null || node === undefined) return { kind: "s", tag: "null", text: "" };
  const anchor = node.anchor;
  if (isAlias(node)) return { kind: "a", text: node.source };
  if (isScalar(node)) {
    const [type, text] = scalar(node.value);
    // The text as written tells keys such as 1 and 0x1 apart.
    return { kind: "s", tag: node.tag ? `${node.tag} ${type}` : type, text: node.source ?? text, value: text, anchor };
  }
  if (isSeq(node)) return { kind: "q", tag: node.tag, anchor, items: node.items.map((item) => (isPair(item) ? pair(item) : tree(item))) };
  if (isMap(node)) return { kind: "m", tag: node.tag, anchor, items: node.items.map((item) => [tree(item.key), tree(item.value)]) };
  throw new Error("unknown node");
}

const isPair = (item) => item !== null && typeof item === "object" && "key" in item && "value" in item && !isScalar(item);
const pair = (item) => ({ kind: "m", items: [[tree(item.key), tree(item.value)]] });

function comments(text) {
  const found = [];
  let before = "";
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith("#") && before !== "\u001f") found.push(token);
    before = token;
  }
  return found;
}

function answer(text) {
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: false, intAsBigInt: true, keepSourceTokens: false, logLevel: "silent" });
    const error = Array.isArray(documents) ? documents.flatMap((document) => document.errors)[0] : undefined;
    if (error) return { error: error.code };
    return { trees: Array.isArray(documents) ? documents.map((document) => tree(document.contents)) : [], comments: comments(text) };
  } catch (error) {
    return { error: String(error.message).slice(0, 100) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
