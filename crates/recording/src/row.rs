//! How a row of a table becomes columns, and back. The tables themselves are left to `tables`.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::sync::Arc;

/// A row of a table: how it becomes columns, and back.
pub trait Row: Sized + Clone {
    /// The table's name, which is its folder's.
    const TABLE: &'static str;
    /// Columns, in order.
    fn schema() -> Arc<Schema>;
    /// Rows to columns.
    fn to_batch(rows: &[Self]) -> Result<RecordBatch, arrow_schema::ArrowError>;
    /// Columns to rows. `Err` names the column that is missing or of another type; further columns are ignored.
    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, String>;
}

/// Makes a struct and its [`Row`] of a list of columns.
macro_rules! table {
    ($(#[$meta:meta])* $name:ident = $table:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::row::Row for $name {
            const TABLE: &'static str = $table;
            fn schema() -> Arc<Schema> {
                Arc::new(Schema::new(vec![
                    $(Field::new(stringify!($field), <$type as Cell>::data_type(), <$type as Cell>::nullable()),)*
                ]))
            }
            fn to_batch(rows: &[Self]) -> Result<RecordBatch, arrow_schema::ArrowError> {
                RecordBatch::try_new(Self::schema(), vec![
                    $(<$type as Cell>::to_array(rows.iter().map(|row| row.$field.clone()).collect()),)*
                ])
            }
            fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, String> {
                $(
                    let absent;
                    let column = match batch.column_by_name(stringify!($field)) {
                        Some(column) => column,
                        // Added by a later minor version.
                        None if <$type as Cell>::nullable() => {
                            absent = arrow_array::new_null_array(&<$type as Cell>::data_type(), batch.num_rows());
                            &absent
                        }
                        None => return Err(concat!("no column ", stringify!($field)).into()),
                    };
                    let mut $field = <$type as Cell>::from_array(column)
                        .ok_or(concat!("column ", stringify!($field), " has another type"))?
                        .into_iter();
                )*
                let mut rows = Vec::with_capacity(batch.num_rows());
                for _ in 0..batch.num_rows() {
                    rows.push($name { $($field: $field.next().ok_or(concat!("column ", stringify!($field), " is short"))?,)* });
                }
                Ok(rows)
            }
        }
    };
}
pub(crate) use table;

#[cfg(test)]
mod tests {
    use super::Row;
    use crate::tables::Loop;

    #[test]
    fn a_column_that_a_later_version_added_may_be_absent() {
        let row = Loop {
            loop_number: 7,
            location: 1,
            parent: None,
            ranges: vec![0, 16],
            work: "walks".into(),
            chases: Some(true),
            usual: Some(false),
            items: Some(8),
        };
        let batch = Loop::to_batch(std::slice::from_ref(&row)).expect("a batch");
        assert_eq!(Loop::from_batch(&batch).expect("all columns"), std::slice::from_ref(&row));
        let earlier = batch.project(&[0, 1, 2, 3, 4]).expect("the first columns");
        assert_eq!(
            Loop::from_batch(&earlier).expect("the columns of then"),
            [Loop { chases: None, usual: None, items: None, ..row }]
        );
        let damaged = batch.project(&[0, 1, 2, 3]).expect("too few");
        assert_eq!(Loop::from_batch(&damaged).expect_err("no work"), "no column work");
    }
}
