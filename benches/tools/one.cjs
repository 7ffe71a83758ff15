// What a validator in Node costs as a whole command: start, compile the schema, read one file, check it.
const Ajv = require("ajv").default;
const addFormats = require("ajv-formats").default;
const fs = require("fs");
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(fs.readFileSync(__dirname + "/schema.json", "utf8")));
process.exit(validate(JSON.parse(fs.readFileSync(process.argv[2], "utf8"))) ? 0 : 1);
