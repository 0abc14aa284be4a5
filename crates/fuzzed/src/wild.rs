//! Rows of any table with numbers that nobody would write: through Arrow, so that a column that is added is made wild as well.

use crate::input::Input;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use slowpath_recording::Tables;
use slowpath_recording::tables::Row;
use std::sync::Arc;

/// Rows may be repeated up to so many.
const MOST: usize = 4_000;

/// Changes one table.
pub(crate) fn change(tables: &mut Tables, input: &mut Input<'_>) {
    macro_rules! one_of {
        ($($table:ident)*) => {{
            let mut change: Vec<&mut dyn FnMut(&mut Input<'_>)> = Vec::new();
            $(let mut $table = |input: &mut Input<'_>| rows(&mut tables.$table, input);
            change.push(&mut $table);)*
            let at = input.below(change.len());
            change[at](input);
        }};
    }
    one_of! {
        modules processes threads mappings locations functions frames builds stacks probes loops bodies walks walk_bursts beginnings stretches repeats formatted copied windows calls samples files
        syscalls waits parks park_windows slices slice_calls
    }
}

fn rows<R: Row>(rows: &mut Vec<R>, input: &mut Input<'_>) {
    if rows.is_empty() {
        return;
    }
    let at = input.below(rows.len());
    match input.byte() % 16 {
        0 => rows.clear(),
        1 => drop(rows.remove(at)),
        2 => rows.truncate(at),
        3 => rows.swap(at, 0),
        4 => rows.reverse(),
        5 => {
            let times = usize::from(input.byte()).min(MOST.saturating_sub(rows.len()));
            rows.extend(std::iter::repeat_n(rows[at].clone(), times));
        }
        6 => {
            // The same cell in a run of rows.
            let (column, end) = (usize::from(input.byte()), at + input.below(rows.len() - at));
            rows[at..=end].iter_mut().for_each(|row| cell(row, column, input));
        }
        _ => {
            let column = usize::from(input.byte());
            cell(&mut rows[at], column, input);
        }
    }
}

/// Changes one column of a row.
fn cell<R: Row>(row: &mut R, column: usize, input: &mut Input<'_>) {
    let Ok(batch) = R::to_batch(std::slice::from_ref(row)) else { return };
    let column = column % batch.num_columns();
    let nullable = batch.schema().field(column).is_nullable();
    let changed = changed(batch.column(column), nullable, input);
    let mut columns = batch.columns().to_vec();
    columns[column] = changed;
    let read =
        RecordBatch::try_new(batch.schema(), columns).ok().and_then(|batch| R::from_batch(&batch).ok());
    if let Some(changed) = read.and_then(|rows| rows.into_iter().next()) {
        *row = changed;
    }
}

/// Another value of the same type.
fn changed(array: &ArrayRef, nullable: bool, input: &mut Input<'_>) -> ArrayRef {
    if nullable && input.once_in(4) {
        return new_null_array(array.data_type(), 1);
    }
    match array.data_type() {
        DataType::UInt32 => {
            let usual = array.as_primitive::<UInt32Type>().value(0);
            Arc::new(UInt32Array::from(vec![input.number(usual.into()) as u32]))
        }
        DataType::Int32 => {
            let usual = array.as_primitive::<Int32Type>().value(0);
            Arc::new(Int32Array::from(vec![input.number(usual as u64) as i32]))
        }
        DataType::UInt64 => {
            let usual = array.as_primitive::<UInt64Type>().value(0);
            Arc::new(UInt64Array::from(vec![input.number(usual)]))
        }
        DataType::Int64 => {
            let usual = array.as_primitive::<Int64Type>().value(0);
            Arc::new(Int64Array::from(vec![input.number(usual as u64) as i64]))
        }
        DataType::Float64 => {
            let usual = array.as_primitive::<Float64Type>().value(0);
            Arc::new(Float64Array::from(vec![input.float(usual)]))
        }
        DataType::Boolean => Arc::new(BooleanArray::from(vec![input.once_in(2)])),
        DataType::Utf8 => Arc::new(StringArray::from(vec![input.text(array.as_string::<i32>().value(0))])),
        DataType::List(field) if *field.data_type() == DataType::UInt64 => {
            let values: Vec<u64> = (0..input.byte() % 16).map(|_| input.number(0x20)).collect();
            let offsets = OffsetBuffer::from_lengths([values.len()]);
            Arc::new(ListArray::new(field.clone(), offsets, Arc::new(UInt64Array::from(values)), None))
        }
        _ => array.clone(),
    }
}
