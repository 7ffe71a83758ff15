//! The keywords of the five drafts in one table: which draft has them, what they hold, and what they apply that to.
//! It says the same as the drafts' meta-schemas (a test compares), and costs nothing before its first use.

/// The drafts of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Four,
    Six,
    Seven,
    Y2019,
    Y2020,
}

impl Draft {
    pub(super) const NAMES: &'static str = "draft-04, draft-06, draft-07, 2019-09 and 2020-12";

    /// Returns the draft that a `$schema` names; with or without a final `#`, by http or https.
    pub(super) fn named(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let path = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?.strip_prefix("json-schema.org/")?;
        match path {
            "draft-04/schema" => Some(Self::Four),
            "draft-06/schema" => Some(Self::Six),
            "draft-07/schema" => Some(Self::Seven),
            "draft/2019-09/schema" => Some(Self::Y2019),
            "draft/2020-12/schema" => Some(Self::Y2020),
            _ => None,
        }
    }

    pub(super) const fn engine(self) -> jsonschema::Draft {
        match self {
            Self::Four => jsonschema::Draft::Draft4,
            Self::Six => jsonschema::Draft::Draft6,
            Self::Seven => jsonschema::Draft::Draft7,
            Self::Y2019 => jsonschema::Draft::Draft201909,
            Self::Y2020 => jsonschema::Draft::Draft202012,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Four => "draft-04",
            Self::Six => "draft-06",
            Self::Seven => "draft-07",
            Self::Y2019 => "2019-09",
            Self::Y2020 => "2020-12",
        }
    }

    /// Says whether keywords beside a `$ref` count.
    pub(super) const fn applies_beside_ref(self) -> bool {
        matches!(self, Self::Y2019 | Self::Y2020)
    }

    pub(super) const fn id_keyword(self) -> &'static str {
        match self {
            Self::Four => "id",
            Self::Six | Self::Seven | Self::Y2019 | Self::Y2020 => "$id",
        }
    }
}

/// What the value of a keyword has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Anything,
    Text,
    Flag,
    Number,
    /// More than zero.
    Factor,
    /// A whole number from zero.
    Count,
    /// Different strings.
    Words,
    /// As [`Shape::Words`], at least one.
    SomeWords,
    /// A word for a type, or different ones.
    Types,
    List,
    Pattern,
    /// A reference to resolve.
    Reference,
    /// A name that a reference may use.
    Anchor,
    /// A base for references.
    Id,
    Vocabulary,
    Schema,
    /// A schema, or `true` or `false` where those are no schemas yet.
    SchemaOrFlag,
    /// One or more schemas.
    Schemas,
    SchemaOrSchemas,
    /// Schemas by name.
    Named,
    /// Schemas by pattern.
    ByPattern,
    /// By name, schemas or words.
    Dependencies,
    /// Words by name.
    WordsByName,
}

/// What the schemas in a keyword are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing by itself.
    Nothing,
    /// The value at hand.
    Same,
    /// A part of it.
    Part,
}

pub(super) struct Keyword {
    pub(super) name: &'static str,
    since: Draft,
    until: Draft,
    pub(super) shape: Shape,
    pub(super) reach: Reach,
}

const fn row(name: &'static str, since: Draft, until: Draft, shape: Shape, reach: Reach) -> Keyword {
    Keyword { name, since, until, shape, reach }
}

use Draft::{Four, Seven, Six, Y2019, Y2020};
use Reach::{Nothing, Part, Same};

/// By the alphabet, the two meanings of `exclusive…` and `items` side by side.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[Keyword] = &[
    row("$anchor",               Y2019, Y2020, Shape::Anchor,          Nothing),
    row("$comment",              Seven, Y2020, Shape::Text,            Nothing),
    row("$defs",                 Y2019, Y2020, Shape::Named,           Nothing),
    row("$dynamicAnchor",        Y2020, Y2020, Shape::Anchor,          Nothing),
    row("$dynamicRef",           Y2020, Y2020, Shape::Reference,       Same),
    row("$id",                   Six,   Y2020, Shape::Id,              Nothing),
    row("$recursiveAnchor",      Y2019, Y2019, Shape::Flag,            Nothing),
    row("$recursiveAnchor",      Y2020, Y2020, Shape::Anchor,          Nothing),
    row("$recursiveRef",         Y2019, Y2019, Shape::Reference,       Same),
    row("$recursiveRef",         Y2020, Y2020, Shape::Text,            Nothing),
    row("$ref",                  Four,  Y2020, Shape::Reference,       Same),
    row("$schema",               Four,  Y2020, Shape::Text,            Nothing),
    row("$vocabulary",           Y2019, Y2020, Shape::Vocabulary,      Nothing),
    row("additionalItems",       Four,  Four,  Shape::SchemaOrFlag,    Part),
    row("additionalItems",       Six,   Y2019, Shape::Schema,          Part),
    row("additionalProperties",  Four,  Four,  Shape::SchemaOrFlag,    Part),
    row("additionalProperties",  Six,   Y2020, Shape::Schema,          Part),
    row("allOf",                 Four,  Y2020, Shape::Schemas,         Same),
    row("anyOf",                 Four,  Y2020, Shape::Schemas,         Same),
    row("const",                 Six,   Y2020, Shape::Anything,        Nothing),
    row("contains",              Six,   Y2020, Shape::Schema,          Part),
    row("contentEncoding",       Six,   Y2020, Shape::Text,            Nothing),
    row("contentMediaType",      Six,   Y2020, Shape::Text,            Nothing),
    row("contentSchema",         Y2019, Y2020, Shape::Schema,          Nothing),
    row("default",               Four,  Y2020, Shape::Anything,        Nothing),
    row("definitions",           Four,  Y2020, Shape::Named,           Nothing),
    row("dependencies",          Four,  Y2020, Shape::Dependencies,    Same),
    row("dependentRequired",     Y2019, Y2020, Shape::WordsByName,     Nothing),
    row("dependentSchemas",      Y2019, Y2020, Shape::Named,           Same),
    row("deprecated",            Y2019, Y2020, Shape::Flag,            Nothing),
    row("description",           Four,  Y2020, Shape::Text,            Nothing),
    row("else",                  Seven, Y2020, Shape::Schema,          Same),
    row("enum",                  Four,  Y2020, Shape::List,            Nothing),
    row("examples",              Six,   Y2020, Shape::List,            Nothing),
    row("exclusiveMaximum",      Four,  Four,  Shape::Flag,            Nothing),
    row("exclusiveMaximum",      Six,   Y2020, Shape::Number,          Nothing),
    row("exclusiveMinimum",      Four,  Four,  Shape::Flag,            Nothing),
    row("exclusiveMinimum",      Six,   Y2020, Shape::Number,          Nothing),
    row("format",                Four,  Y2020, Shape::Text,            Nothing),
    row("id",                    Four,  Four,  Shape::Id,              Nothing),
    row("if",                    Seven, Y2020, Shape::Schema,          Same),
    row("items",                 Four,  Y2019, Shape::SchemaOrSchemas, Part),
    row("items",                 Y2020, Y2020, Shape::Schema,          Part),
    row("maxContains",           Y2019, Y2020, Shape::Count,           Nothing),
    row("maxItems",              Four,  Y2020, Shape::Count,           Nothing),
    row("maxLength",             Four,  Y2020, Shape::Count,           Nothing),
    row("maxProperties",         Four,  Y2020, Shape::Count,           Nothing),
    row("maximum",               Four,  Y2020, Shape::Number,          Nothing),
    row("minContains",           Y2019, Y2020, Shape::Count,           Nothing),
    row("minItems",              Four,  Y2020, Shape::Count,           Nothing),
    row("minLength",             Four,  Y2020, Shape::Count,           Nothing),
    row("minProperties",         Four,  Y2020, Shape::Count,           Nothing),
    row("minimum",               Four,  Y2020, Shape::Number,          Nothing),
    row("multipleOf",            Four,  Y2020, Shape::Factor,          Nothing),
    row("not",                   Four,  Y2020, Shape::Schema,          Same),
    row("oneOf",                 Four,  Y2020, Shape::Schemas,         Same),
    row("pattern",               Four,  Y2020, Shape::Pattern,         Nothing),
    row("patternProperties",     Four,  Y2020, Shape::ByPattern,       Part),
    row("prefixItems",           Y2020, Y2020, Shape::Schemas,         Part),
    row("properties",            Four,  Y2020, Shape::Named,           Part),
    row("propertyNames",         Six,   Y2020, Shape::Schema,          Part),
    row("readOnly",              Seven, Y2020, Shape::Flag,            Nothing),
    row("required",              Four,  Four,  Shape::SomeWords,       Nothing),
    row("required",              Six,   Y2020, Shape::Words,           Nothing),
    row("then",                  Seven, Y2020, Shape::Schema,          Same),
    row("title",                 Four,  Y2020, Shape::Text,            Nothing),
    row("type",                  Four,  Y2020, Shape::Types,           Nothing),
    row("unevaluatedItems",      Y2019, Y2020, Shape::Schema,          Part),
    row("unevaluatedProperties", Y2019, Y2020, Shape::Schema,          Part),
    row("uniqueItems",           Four,  Y2020, Shape::Flag,            Nothing),
    row("writeOnly",             Seven, Y2020, Shape::Flag,            Nothing),
];

pub(super) const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns what `name` means in `draft`.
pub(super) fn keyword(draft: Draft, name: &str) -> Option<&'static Keyword> {
    let first = KEYWORDS.partition_point(|keyword| keyword.name < name);
    KEYWORDS[first..].iter().take_while(|keyword| keyword.name == name).find(|keyword| (keyword.since..=keyword.until).contains(&draft))
}

impl Keyword {
    /// Says whether some draft has a keyword of that name.
    pub(super) fn is_any(name: &str) -> bool {
        KEYWORDS.binary_search_by(|keyword| keyword.name.cmp(name)).is_ok()
    }

    /// Says whether it only tells people something, or holds what references lead to.
    pub(super) fn is_annotation(name: &str) -> bool {
        matches!(name, "$comment" | "$defs" | "definitions" | "deprecated" | "examples" | "readOnly" | "writeOnly")
    }

    /// Returns the names that `draft` has.
    pub(super) fn names(draft: Draft) -> impl Iterator<Item = &'static str> {
        KEYWORDS.iter().filter(move |keyword| (keyword.since..=keyword.until).contains(&draft)).map(|keyword| keyword.name)
    }

    /// Returns which drafts have a keyword of that name.
    pub(super) fn drafts(name: &str) -> Option<String> {
        let mut rows = KEYWORDS.iter().filter(|keyword| keyword.name == name);
        let first = rows.next()?;
        let until = rows.next_back().unwrap_or(first).until;
        Some(match (first.since, until) {
            (since, until) if since == until => since.name().to_owned(),
            (since, Y2020) => format!("{} and later", since.name()),
            (since, until) => format!("{} to {}", since.name(), until.name()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_draft_has_two_meanings() {
        assert!(KEYWORDS.is_sorted_by_key(|keyword| keyword.name));
        for pair in KEYWORDS.windows(2) {
            assert!(pair[0].name != pair[1].name || pair[0].until < pair[1].since, "{}", pair[0].name);
        }
    }

    #[test]
    fn a_draft_is_named_by_its_address() {
        for (uri, draft) in [
            ("http://json-schema.org/draft-07/schema#", Some(Draft::Seven)),
            ("https://json-schema.org/draft-07/schema", Some(Draft::Seven)),
            ("http://json-schema.org/draft-04/schema#", Some(Draft::Four)),
            ("http://json-schema.org/draft-06/schema#", Some(Draft::Six)),
            ("https://json-schema.org/draft/2019-09/schema", Some(Draft::Y2019)),
            ("https://json-schema.org/draft/2020-12/schema", Some(Draft::Y2020)),
            ("http://json-schema.org/schema#", None),
            ("https://example.com/draft-07/schema", None),
            ("", None),
        ] {
            assert_eq!(Draft::named(uri), draft, "{uri}");
        }
    }
}
