//! How one column's values become an Arrow array and come back. Only the types that tables use.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// A type that a column can hold.
pub(crate) trait Cell: Sized + Clone {
    fn data_type() -> DataType;
    fn nullable() -> bool {
        false
    }
    fn to_array(values: Vec<Self>) -> ArrayRef;
    /// `None` if the array is of another type, or null where a value must be.
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>>;
}

macro_rules! primitive {
    ($rust:ty, $array:ty, $arrow:ty, $data_type:expr) => {
        impl Cell for $rust {
            fn data_type() -> DataType {
                $data_type
            }
            fn to_array(values: Vec<Self>) -> ArrayRef {
                Arc::new(<$array>::from(values))
            }
            fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
                let array = array.as_primitive_opt::<$arrow>()?;
                (array.null_count() == 0).then(|| array.values().to_vec())
            }
        }
        impl Cell for Option<$rust> {
            fn data_type() -> DataType {
                $data_type
            }
            fn nullable() -> bool {
                true
            }
            fn to_array(values: Vec<Self>) -> ArrayRef {
                Arc::new(<$array>::from(values))
            }
            fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
                Some(array.as_primitive_opt::<$arrow>()?.iter().collect())
            }
        }
    };
}

primitive!(u32, UInt32Array, UInt32Type, DataType::UInt32);
primitive!(u64, UInt64Array, UInt64Type, DataType::UInt64);
primitive!(i32, Int32Array, Int32Type, DataType::Int32);
primitive!(i64, Int64Array, Int64Type, DataType::Int64);
primitive!(f64, Float64Array, Float64Type, DataType::Float64);

impl Cell for bool {
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(BooleanArray::from(values))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        array.as_boolean_opt()?.iter().collect()
    }
}

impl Cell for Option<bool> {
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn nullable() -> bool {
        true
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(BooleanArray::from(values))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_boolean_opt()?.iter().collect())
    }
}

impl Cell for String {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(StringArray::from(values))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        array.as_string_opt::<i32>()?.iter().map(|text| text.map(str::to_owned)).collect()
    }
}

impl Cell for Option<String> {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn nullable() -> bool {
        true
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(StringArray::from(values))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        Some(array.as_string_opt::<i32>()?.iter().map(|text| text.map(str::to_owned)).collect())
    }
}

impl Cell for Vec<String> {
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", DataType::Utf8, false)))
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        let offsets = arrow_buffer::OffsetBuffer::from_lengths(values.iter().map(Vec::len));
        let items = StringArray::from(values.into_iter().flatten().collect::<Vec<_>>());
        let field = Arc::new(Field::new("item", DataType::Utf8, false));
        Arc::new(ListArray::new(field, offsets, Arc::new(items), None))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        array.as_list_opt::<i32>()?.iter().map(|list| String::from_array(&list?)).collect()
    }
}

impl Cell for Vec<u64> {
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", DataType::UInt64, false)))
    }
    fn to_array(values: Vec<Self>) -> ArrayRef {
        let offsets = arrow_buffer::OffsetBuffer::from_lengths(values.iter().map(Vec::len));
        let items = UInt64Array::from(values.into_iter().flatten().collect::<Vec<_>>());
        let field = Arc::new(Field::new("item", DataType::UInt64, false));
        Arc::new(ListArray::new(field, offsets, Arc::new(items), None))
    }
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        array.as_list_opt::<i32>()?.iter().map(|list| u64::from_array(&list?)).collect()
    }
}
