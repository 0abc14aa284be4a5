//! What code is taken to do: machine code of small loops and functions.

use super::*;

fn of(code: &[u8]) -> Work {
    let code: Vec<Instruction> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    work(code.iter(), false, false)
}

#[test]
fn the_way_to_the_end_of_a_list_and_a_search_in_an_array_walk() {
    // mov rax, [rax+8]; test rax, rax; jne
    assert_eq!(of(&[0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf7]), Work::Walks);
    // cmp [rax], edx; je; add rax, 4; cmp rax, rcx; jne
    assert_eq!(
        of(&[0x39, 0x10, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf3]),
        Work::Walks
    );
}

#[test]
fn an_index_that_goes_around_the_end_of_a_table_walks() {
    let code = [
        0x83, 0xc2, 0x01, // L: add edx, 1
        0x21, 0xf2, // and edx, esi
        0x89, 0xd0, // mov eax, edx
        0x48, 0xc1, 0xe0, 0x05, // shl rax, 5
        0x48, 0x01, 0xf8, // add rax, rdi
        0x44, 0x8b, 0x40, 0x04, // mov r8d, [rax+4]
        0x45, 0x85, 0xc0, // test r8d, r8d
        0x74, 0x04, // je end
        0x3b, 0x08, // cmp ecx, [rax]
        0x75, 0xe5, // jne L
    ];
    assert_eq!(of(&code), Work::Walks);
}

#[test]
fn an_item_that_is_copied_to_the_stack_is_walked_over_and_one_that_is_copied_elsewhere_is_moved() {
    // movups xmm14, [r8]; movups [r15], xmm14; cmp [rsp+0x88], rdi; je; add r8, 48; cmp r8, rsi; jne
    let with = |lea: &[u8]| {
        let mut code = lea.to_vec();
        code.extend([0x45, 0x0f, 0x10, 0x30, 0x45, 0x0f, 0x11, 0x37]);
        code.extend([0x48, 0x39, 0xbc, 0x24, 0x88, 0, 0, 0, 0x74, 0x10]);
        code.extend([0x49, 0x83, 0xc0, 0x30, 0x49, 0x39, 0xf0, 0x75, 0xd0]);
        of(&code)
    };
    assert_eq!(with(&[0x4c, 0x8d, 0xbc, 0x24, 0x88, 0, 0, 0]), Work::Walks); // lea r15, [rsp+0x88]
    assert_eq!(with(&[0x49, 0x89, 0xcf]), Work::Moves); // mov r15, rcx
    // lea r15, [rsp+0x88]; mov r15, [r15]
    assert_eq!(with(&[0x4c, 0x8d, 0xbc, 0x24, 0x88, 0, 0, 0, 0x4d, 0x8b, 0x3f]), Work::Moves);
}

#[test]
fn an_item_that_is_passed_to_a_function_is_walked_over() {
    // mov rdi, rbp; add rbp, 32; call; test eax, eax; jne
    let call = [0x48, 0x89, 0xef, 0x48, 0x83, 0xc5, 0x20, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0xf0];
    assert_eq!(of(&call), Work::Walks);
    // The same without the call.
    let sum = [0x48, 0x89, 0xef, 0x48, 0x83, 0xc5, 0x20, 0x85, 0xc0, 0x75, 0xf5];
    assert_eq!(of(&sum), Work::Calculates);
}

#[test]
fn counting_down_the_rounds_is_a_step() {
    // cmp [rax], edx; je; lea rsi, [rax+4]; mov rax, rsi; sub ecx, 1; jne
    let code =
        [0x39, 0x10, 0x74, 0x10, 0x48, 0x8d, 0x70, 0x04, 0x48, 0x89, 0xf0, 0x83, 0xe9, 0x01, 0x75, 0xf0];
    assert_eq!(of(&code), Work::Walks);
}

#[test]
fn a_count_of_what_was_met_is_a_result() {
    // cmp [rax], edx; jne; inc esi; add rax, 4; cmp rax, rcx; jne
    assert_eq!(
        of(&[0x39, 0x10, 0x75, 0x02, 0xff, 0xc6, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf1]),
        Work::Counts
    );
    // cmp [rax], edx; jne; add esi, ebx; add rax, 4; cmp rax, rcx; jne
    assert_eq!(
        of(&[0x39, 0x10, 0x75, 0x02, 0x01, 0xde, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf1]),
        Work::Calculates
    );
    // The same count, and what was read is stored.
    assert_eq!(
        of(&[0x8b, 0x10, 0x89, 0x50, 0x04, 0xff, 0xc6, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xef]),
        Work::Calculates
    );
}

#[test]
fn a_sum_a_count_in_memory_a_product_and_fractions_are_calculated() {
    assert_eq!(of(&[0x03, 0x10, 0x48, 0x83, 0xc0, 0x04]), Work::Calculates); // add edx, [rax]; add rax, 4
    assert_eq!(of(&[0xff, 0x00, 0x48, 0x83, 0xc0, 0x04]), Work::Calculates); // inc dword [rax]; add rax, 4
    assert_eq!(of(&[0x0f, 0xaf, 0xc2]), Work::Calculates); // imul eax, edx
    assert_eq!(of(&[0xf2, 0x0f, 0x58, 0x00]), Work::Calculates); // addsd xmm0, [rax]
}

#[test]
fn the_next_item_may_be_chosen_and_the_largest_is_a_result() {
    // cmp [rbx], esi; mov rax, [rbx+8]; cmovg rax, [rbx+16]; mov rbx, rax; test rbx, rbx; jne
    let tree = [
        0x39, 0x33, 0x48, 0x8b, 0x43, 0x08, 0x48, 0x0f, 0x4f, 0x43, 0x10, 0x48, 0x89, 0xc3, 0x48, 0x85, 0xdb,
        0x75, 0xed,
    ];
    assert_eq!(of(&tree), Work::Walks);
    // cmp ecx, [rax]; cmovl ecx, [rax]; add rax, 4; cmp rax, rdx; jne
    let largest = [0x3b, 0x08, 0x0f, 0x4c, 0x08, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xd0, 0x75, 0xf2];
    assert_eq!(of(&largest), Work::Calculates);
}

#[test]
fn what_is_read_here_and_stored_there_is_moved() {
    // mov edx, [rax]; mov [rax+4], edx; sub rax, 4; cmp rax, rcx; jne
    let code = [0x8b, 0x10, 0x89, 0x50, 0x04, 0x48, 0x83, 0xe8, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf2];
    assert_eq!(of(&code), Work::Moves);
}

#[test]
fn spilled_registers_are_no_results() {
    // mov [rsp+8], rax; mov rax, [rax]; test rax, rax
    assert_eq!(of(&[0x48, 0x89, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0]), Work::Walks);
}

#[test]
fn rbp_is_the_stack_only_where_it_is_a_frame_pointer() {
    // mov [rbp-8], rax
    let code = [0x48, 0x89, 0x45, 0xf8];
    let code: Vec<Instruction> = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE).into_iter().collect();
    assert_eq!(work(code.iter(), true, false), Work::Walks);
    assert_eq!(work(code.iter(), false, false), Work::Moves);
}

#[test]
fn what_is_never_executed_does_not_count() {
    // mov rax, [rdi]; cmp rax, rsi; ja to a check that fails; ret; call, ud2; and int3 up to the next function, as Rust's compiler pads.
    let code = [
        0x48, 0x8b, 0x07, 0x48, 0x39, 0xf0, 0x77, 0x01, 0xc3, 0xe8, 0, 0, 0, 0, 0x0f, 0x0b, 0xcc, 0xcc, 0xcc,
    ];
    assert!(matches!(work_of_function(&code), Work::Walks | Work::Reads), "{:?}", work_of_function(&code));
}
