//! Every code a finding can have. A code is never renamed, nor used for something else.

macro_rules! codes {
    ($($variant:ident => $code:literal, $description:literal;)+) => {
        /// What kind of thing was found. Reports and the man page show `as_str` and `description`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Code {
            $($variant,)+
        }

        impl Code {
            /// All of them, in the order of the documentation.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// Says in one sentence what a finding with this code means.
            pub(crate) const fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)+ }
            }
        }
    };
}

codes! {
    JsonEmpty => "spark::manifest::json_empty", "The file has no JSON value at all.";
    JsonByteOrderMark => "spark::manifest::json_byte_order_mark", "The file starts with a byte order mark; it is read, but other tools may refuse it.";
    JsonNotUtf8 => "spark::manifest::json_bad_encoding", "The file is not UTF-8.";
    JsonTooDeep => "spark::manifest::json_too_deep", "Arrays and objects are nested deeper than 128 levels.";
    JsonUnexpectedEnd => "spark::manifest::json_unexpected_end", "The file ends before the JSON is complete.";
    JsonUnexpected => "spark::manifest::json_unexpected", "A character stands where JSON allows none of its kind.";
    JsonExpectedKey => "spark::manifest::json_expected_key", "Something other than a quoted key stands where a key belongs.";
    JsonExpectedColon => "spark::manifest::json_expected_colon", "The colon after a key is missing.";
    JsonExpectedComma => "spark::manifest::json_expected_comma", "The comma between two items is missing.";
    JsonTrailingComma => "spark::manifest::json_trailing_comma", "A comma stands before a closing bracket.";
    JsonComment => "spark::manifest::json_comment", "JSON has no comments.";
    JsonDuplicateKey => "spark::manifest::json_duplicate_key", "A key stands twice in one object, and readers differ on which one counts.";
    JsonLoneSurrogate => "spark::manifest::json_lone_surrogate", "A string holds half of a surrogate pair, which is no character.";
    JsonControlCharacter => "spark::manifest::json_control_character", "A string holds a control character that is not written as an escape.";
    JsonBadEscape => "spark::manifest::json_bad_escape", "A string holds an escape that JSON doesn't know.";
    JsonBadNumber => "spark::manifest::json_bad_number", "A number is not written as JSON writes numbers.";
    JsonUnterminatedString => "spark::manifest::json_unterminated_string", "A string has no closing quote.";
    JsonSingleQuotes => "spark::manifest::json_single_quotes", "A string or key is in single quotes.";
    JsonBadWord => "spark::manifest::json_bad_word", "A bare word is not JSON.";
    JsonTrailingData => "spark::manifest::json_trailing_data", "More text follows the end of the JSON.";

    MissingFile => "spark::manifest::missing_file", "The folder has no `spark-tool.json`, so it is no package.";
    FileTooLarge => "spark::manifest::file_too_large", "The file is larger than 4 MiB.";
    TooManyFindings => "spark::manifest::too_many_findings", "More was found than one report shows.";

    MissingKey => "spark::manifest::missing_key", "A required key is missing.";
    UnknownKey => "spark::manifest::unknown_key", "A key is not known: an error in strict objects, a warning elsewhere.";
    WrongType => "spark::manifest::wrong_type", "A value has another JSON type than the key needs.";
    UnknownWord => "spark::manifest::unknown_word", "A value is none of the words that are allowed.";
    TooShort => "spark::manifest::too_short", "A text is shorter than allowed.";
    TooLong => "spark::manifest::too_long", "A text is longer than allowed.";
    TooFewItems => "spark::manifest::too_few_items", "A list has fewer items than allowed.";
    TooManyItems => "spark::manifest::too_many_items", "A list or map has more items than allowed.";
    NotAnInteger => "spark::manifest::not_an_integer", "A number has a fraction where an integer is needed.";
    OutOfRange => "spark::manifest::out_of_range", "A number is below or above its bounds.";
    ConflictingKeys => "spark::manifest::conflicting_keys", "Of several keys exactly one must be given.";
    NewerSchemaVersion => "spark::manifest::newer_schema_version", "The manifest is of a newer schema version than this release reads.";
    MissingSchemaKey => "spark::manifest::missing_schema_key", "Without `$schema` an editor can't check the file while you type.";

    BadPackageId => "spark::manifest::bad_package_id", "A package id breaks its grammar or can't be a folder name on every system.";
    BadVersion => "spark::manifest::bad_version", "A version breaks its grammar.";
    NotSemver => "spark::manifest::not_semver", "A version is accepted here but is not a SemVer 2 version.";
    BadToolName => "spark::manifest::bad_tool_name", "A tool name breaks its grammar.";
    BadVariableName => "spark::manifest::bad_variable_name", "The name of an environment variable breaks its grammar.";
    BadCapabilityName => "spark::manifest::bad_capability_name", "A capability name breaks its grammar.";
    BadUrl => "spark::manifest::bad_url", "A text is not an absolute URL.";
    BadUrlScheme => "spark::manifest::bad_url_scheme", "A URL is of another scheme than http or https.";
    BadPath => "spark::manifest::bad_path", "A path is absolute, leaves the package or is spelt in a way that is not portable.";
    BadHeaderName => "spark::manifest::bad_header_name", "A header name is not an HTTP token.";
    ForbiddenHeader => "spark::manifest::forbidden_header", "A header belongs to the connection and can't be set.";
    BadHeaderValue => "spark::manifest::bad_header_value", "A header value holds a line break or NUL.";
    BadPlaceholder => "spark::manifest::bad_placeholder", "A placeholder is not well-formed.";
    BadSecretRef => "spark::manifest::bad_secret_ref", "A secret reference breaks its grammar.";
    BadPattern => "spark::manifest::bad_pattern", "A regular expression does not compile.";
    BadJsonPath => "spark::manifest::bad_json_path", "A path is outside the path language, so that its column stays empty.";
    BadBodyTemplate => "spark::manifest::bad_body_template", "A body template is not JSON once its placeholders are filled.";

    HiddenInName => "spark::manifest::hidden_in_name", "A path holds characters that can't be seen or that change the reading direction.";
    HiddenCharacters => "spark::manifest::hidden_characters", "A text holds characters that can't be seen or that change the reading direction.";
    BlankText => "spark::manifest::blank_text", "A text that people or models read has nothing but blanks.";
    ThinDescription => "spark::manifest::thin_description", "A description says no more than the name does.";

    CommandNotInPackage => "spark::manifest::command_not_in_package", "A relative command does not start with `./`, or leaves the package.";
    CommandWithBlanks => "spark::manifest::command_with_blanks", "A command holds blanks; it is one program, without arguments.";
    CommandUnusable => "spark::manifest::command_unusable", "A command can't name a program.";
    CommandNotPortable => "spark::manifest::command_not_portable", "A command is an absolute path, which differs from machine to machine.";
    CommandMissing => "spark::manifest::command_missing", "A command that starts with `./` names no regular file of the package.";
    ProgramNotFound => "spark::manifest::program_not_found", "A command names no program on this machine.";
    WorkingDirectoryMissing => "spark::manifest::working_directory_missing", "The working directory is no folder of the package.";

    DuplicateTool => "spark::manifest::duplicate_tool", "Two tools have the same name.";
    SimilarTools => "spark::manifest::similar_tools", "Two tool names differ only in `-` and `_`.";
    LongServedName => "spark::manifest::long_served_name", "The name a tool is served under is cut, because clients take at most 64 characters.";
    ReadToolWrites => "spark::manifest::read_tool_writes", "A tool of risk `read` has another effect than `read`.";
    DestructiveToolRepeats => "spark::manifest::destructive_tool_repeats", "A tool of risk `destructive` has another idempotency than `unsafe`.";

    DuplicateVariable => "spark::manifest::duplicate_variable", "Two environment variables have the same name.";
    HijackingVariable => "spark::manifest::hijacking_variable", "An environment variable would take over the process it is given to.";
    RiskyVariable => "spark::manifest::risky_variable", "An environment variable changes what an interpreter, a loader or a connection does.";
    SecretWithDefault => "spark::manifest::secret_with_default", "A secret has a default, which everybody could read.";
    SecretNotString => "spark::manifest::secret_not_string", "A secret is of another type than `string`.";
    PatternNotString => "spark::manifest::pattern_not_string", "A pattern is given for a variable that is not a string.";
    BadDefault => "spark::manifest::bad_default", "A default breaks the rule of its own variable.";

    MissingHttpSpec => "spark::manifest::missing_http_spec", "A tool has no HTTP spec in `runtime.tools`.";
    UnknownTool => "spark::manifest::unknown_tool", "An HTTP spec or a name override is for a tool that the manifest doesn't have.";
    UndeclaredVariable => "spark::manifest::undeclared_variable", "A placeholder or secret reference names no declared environment variable.";
    SecretInPlain => "spark::manifest::secret_in_plain", "A secret reference names a variable that is not declared secret.";
    UndeclaredParameter => "spark::manifest::undeclared_parameter", "A placeholder names no parameter of the tool.";
    OptionalParameter => "spark::manifest::optional_parameter", "A placeholder needs a parameter that a caller may leave out.";
    SensitiveHeader => "spark::manifest::sensitive_header", "A header that carries a credential has its value in the file.";
    SecretInFile => "spark::manifest::secret_in_file", "A text looks like a credential; the file is readable by everybody who has the package.";
    UnsentBody => "spark::manifest::unsent_body", "A request body is given for a method that sends none.";
    RiskTooLow => "spark::manifest::risk_too_low", "A tool's risk is lower than its HTTP method suggests.";

    RepeatedEntry => "spark::manifest::repeated_entry", "A permission is listed twice.";
    RequiredAndOptional => "spark::manifest::required_and_optional", "A capability is both required and optional.";

    InputNotObject => "spark::manifest::input_not_object", "An input schema's own `type` is not `object`.";
    BadSchema => "spark::manifest::bad_schema", "A JSON Schema breaks its meta-schema or can't be compiled.";
    Portability => "spark::manifest::portability", "A JSON Schema uses what other hosts refuse or read differently.";
    RequiredUndeclared => "spark::manifest::required_undeclared", "A schema requires a key that its `properties` don't name.";
    MissingType => "spark::manifest::missing_type", "A schema has rules for one type of value and no `type`, so that values of other types pass.";
    SlowPattern => "spark::manifest::slow_pattern", "A regular expression needs look-around or back-references and is stopped at a step limit.";
    DoubtfulPattern => "spark::manifest::doubtful_pattern", "A regular expression means something else than it seems to.";
    MisspeltKeyword => "spark::manifest::misspelt_keyword", "A schema has a keyword that looks like a misspelt one and does nothing.";
    OtherDraftKeyword => "spark::manifest::other_draft_keyword", "A schema has a keyword that its own draft of JSON Schema doesn't know.";
    UnfitDefault => "spark::manifest::unfit_default", "A default in a schema is refused by that schema.";
    ExampleInvalid => "spark::manifest::example_invalid", "An example's input breaks the tool's own input schema.";

    ClientLimit => "spark::manifest::client_limit", "A client that was asked about refuses or cuts this.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_spelt_alike() {
        let mut seen = BTreeSet::new();
        for code in Code::ALL {
            let word = code.as_str().strip_prefix("spark::manifest::").expect("all codes of this room start alike");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'), "{word}");
            assert!(seen.insert(word), "{word} stands twice");
            assert!(code.description().ends_with('.'), "{word}");
        }
    }
}
