let rest = "";
process.stdin.on("data", (chunk) => {
  rest += chunk;
  for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
    const frame = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    const answer = { protocolVersion: frame.protocolVersion, requestId: frame.requestId, sequence: 0 };
    if (frame.type === "initialize") answer.type = "ready";
    else if (frame.type === "invoke") Object.assign(answer, { type: "result", invocationId: frame.invocationId, result: frame.input });
    else if (frame.type === "shutdown") process.exit(0);
    else continue;
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
});
