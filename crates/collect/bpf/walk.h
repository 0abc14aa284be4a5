// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
//
// Where a walk begins: the addresses that a loop reads first, or a function's first arguments, and what is there. Which registers lead
// to them is worked out by src/counter/origin.rs.

#pragma once

#define TEXT 4096
// How what the first beginning leads to is read; 0 for not at all. As in src/bpf/mod.rs.
#define TEXT_TO_ZERO 1
#define TEXT_AS_IT_IS 2
// … and for only how far it is to its zero.
#define TEXT_LENGTH 3
#define LED_TO 8
// As instructions number them; the last is the instruction pointer.
#define REGISTERS 17
// What could not be read.
#define UNREAD (~0ull)

// An address, and what it holds: a hash of the first bytes, 0 where they cannot be read.
struct beginning {
	__u64 address, content;
};

struct walk_event {
	struct hit_event hit;
	struct beginning beginnings[MAX_ORIGINS];
	// A bit for each that begins at an item that points to where the one before began; from LED_TO on, at the item that followed that one.
	__u64 linked;
	__u64 length; // of what the first leads to, as far as it was read: a text has at most TEXT - 1
	__u64 within; // when the outermost invocation was entered that this one is part of, 0 if it is one itself
	__u64 below; // how far the stack pointer at entry is below that of the outermost invocation, bytes
};

// The same with what the first beginning leads to, where that is asked for.
struct text_event {
	struct walk_event walk;
	char text[TEXT];
};

// FNV-1a over words.
static __always_inline __u64 hash_of(const __u64 *words, int count)
{
	__u64 hash = 14695981039346656037ull;
	for (int i = 0; i < count; i++)
		hash = (hash ^ words[i]) * 1099511628211ull;
	return hash;
}

// Returns how the item there and the one before are linked, as in `walk_event`. Keeps both for the next time.
static __always_inline __u64 begin_of(struct beginning *beginning, const struct origin *origin, const __u64 *registers,
				      __u64 *last, __u64 *last_words)
{
	__u64 before = *last;
	*last = 0;
	__u32 base = origin->reg, index = origin->index;
	if (base >= REGISTERS)
		return 0;
	__u64 address = registers[base] + origin->offsets[0];
	if (index < REGISTERS)
		address += registers[index] * origin->scale;
	for (int step = 1; step < ORIGIN_STEPS; step++) {
		if (step >= origin->steps)
			break;
		__u64 next = 0;
		if (bpf_probe_read_user(&next, sizeof(next), (void *)address))
			return 0;
		address = next + origin->offsets[step];
	}
	*last = beginning->address = address;
	__u64 content[CONTENT / 8];
	bool points_back = false, led_to = false;
	bool whole = !bpf_probe_read_user(content, sizeof(content), (void *)address);
	if (whole)
		beginning->content = hash_of(content, CONTENT / 8);
	else if (!bpf_probe_read_user(content, 8, (void *)address))
		beginning->content = hash_of(content, 1);
	for (int i = 0; i < CONTENT / 8; i++) {
		points_back |= whole && content[i] == before;
		led_to |= i == origin->next && last_words[i] == address;
		last_words[i] = whole ? content[i] : 0;
	}
	if (!before || !address || address == before)
		return 0;
	return (points_back ? 1 : 0) | (led_to ? 1 << LED_TO : 0);
}

// Reads what the first beginning leads to. Returns how many bytes were read, or UNREAD.
static __always_inline __u64 read_text(struct text_event *event, __u32 how)
{
	void *from = (void *)event->walk.beginnings[0].address;
	if (how == TEXT_TO_ZERO) {
		long size = bpf_probe_read_user_str(event->text, TEXT, from);
		return size > 0 ? size - 1 : UNREAD;
	}
	if (how != TEXT_AS_IT_IS)
		return UNREAD;
	if (!bpf_probe_read_user(event->text, TEXT, from))
		return TEXT;
	// Near the end of what is mapped or in memory.
#pragma unroll
	for (int size = TEXT / 2; size >= CONTENT; size /= 2)
		if (!bpf_probe_read_user(event->text, size, from))
			return size;
	return UNREAD;
}

// Where a text is read whose length alone is wanted. What is in it means nothing: another program may be at it.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[TEXT]);
} text_scratch SEC(".maps");

// How far it is from an address to a zero, at most TEXT - 1, or UNREAD.
static __always_inline __u64 length_of_text(__u64 address)
{
	__u32 zero = 0;
	char *text = bpf_map_lookup_elem(&text_scratch, &zero);
	if (!text)
		return UNREAD;
	long size = bpf_probe_read_user_str(text, TEXT, (void *)address);
	return size > 0 ? size - 1 : UNREAD;
}

// Tells which invocation this one is part of, if it is not the outermost one itself: of those on the thread's stack whose entry was noted.
static __always_inline void find_outer(struct walk_event *event, struct pt_regs *ctx, struct slot *slot)
{
	struct hits outer = { .sp = slot->outer_sp, .return_address = slot->outer_return };
	__u64 sp = PT_REGS_SP(ctx) + slot->sp_adjust;
	__u32 tid = bpf_get_current_pid_tgid();
	if (slot->outer_tid == tid && active(&outer, sp)) {
		event->within = slot->outer_time;
		event->below = slot->outer_sp - sp;
		return;
	}
	slot->outer_tid = tid;
	slot->outer_sp = sp;
	slot->outer_time = event->hit.time;
	if (bpf_probe_read_user(&slot->outer_return, sizeof(slot->outer_return), (void *)sp))
		slot->outer_tid = 0;
}

// A function of its own: a frame of BPF has 512 bytes. Before Linux 6.13 all frames of a chain of calls have so many together: see `src/bpf/frames.rs`.
static __noinline void tell_walk(struct walk_event *event, struct pt_regs *ctx, struct slot *slot, __u64 count,
				 struct task_struct *task)
{
	__u64 registers[REGISTERS] = {
		ctx->ax, ctx->cx, ctx->dx, ctx->bx, ctx->sp, ctx->bp, ctx->si, ctx->di, ctx->r8,
		ctx->r9, ctx->r10, ctx->r11, ctx->r12, ctx->r13, ctx->r14, ctx->r15, ctx->ip,
	};
	begin_event(&event->hit, EVENT_WALK, slot, count, task);
	event->within = event->below = 0;
	if (slot->nests)
		find_outer(event, ctx, slot);
	event->linked = 0;
	for (int i = 0; i < MAX_ORIGINS; i++) {
		event->beginnings[i].address = event->beginnings[i].content = 0;
		if (i >= slot->origins_used)
			continue;
		event->linked |= begin_of(&event->beginnings[i], &slot->origins[i], registers, &slot->last[i],
					  slot->last_words[i])
				 << i;
		// A variable of an invocation in between: at the same address is another one the next time.
		if (event->beginnings[i].address - registers[4] < event->below)
			event->beginnings[i].content = event->hit.time;
	}
}

// Tells where the walk that begins at this hit begins.
static __always_inline void on_walk(struct pt_regs *ctx, struct slot *slot, __u64 count, struct task_struct *task)
{
	if (slot->texts && slot->texts != TEXT_LENGTH) {
		struct text_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
		if (!event) {
			count_lost(2);
			return;
		}
		tell_walk(&event->walk, ctx, slot, count, task);
		event->walk.length = read_text(event, slot->texts);
		bpf_ringbuf_submit(event, wake_flags());
		return;
	}
	struct walk_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost(2);
		return;
	}
	tell_walk(event, ctx, slot, count, task);
	event->length = slot->texts == TEXT_LENGTH ? length_of_text(event->beginnings[0].address) : UNREAD;
	bpf_ringbuf_submit(event, wake_flags());
}
