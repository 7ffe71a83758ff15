//! Columns as domain values. What can't be one is damage, and names its column.

use std::error::Error;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::Type;

/// Returns a count as SQLite keeps it.
pub(super) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Reads a count.
pub(super) fn count(row: &Row<'_>, name: &str) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(name)?.cast_unsigned())
}

/// As [`count`]; `None` is NULL.
pub(super) fn optional_count(row: &Row<'_>, name: &str) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(name)?.map(i64::cast_unsigned))
}

/// Reads a text that was a domain value when it was written.
pub(super) fn parsed<T>(row: &Row<'_>, column: &str, text: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    text.parse().map_err(|error| {
        let index = row.as_ref().column_index(column).unwrap_or(0);
        rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(Damaged { column: column.to_owned(), source: error }))
    })
}

/// As [`parsed`], from the column itself.
pub(super) fn column<T>(row: &Row<'_>, name: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    parsed(row, name, row.get_ref(name)?.as_str()?)
}

/// As [`column`]; `None` is NULL.
pub(super) fn optional<T>(row: &Row<'_>, name: &str) -> rusqlite::Result<Option<T>>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    row.get_ref(name)?.as_str_or_null()?.map(|text| parsed(row, name, text)).transpose()
}

#[derive(Debug, thiserror::Error)]
#[error("column `{column}`: {source}")]
struct Damaged<E: Error + 'static> {
    column: String,
    source: E,
}
