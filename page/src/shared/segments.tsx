// A choice of one among few, all of them seen.

export interface SegmentsProps {
  label: string;
  value: string;
  /** Value, text, and what it means. */
  options: [string, string, string][];
  choose(value: string): void;
}

export function Segments({ label, value, options, choose }: SegmentsProps) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = options.findIndex(([name]) => name === value);
    const to = options[(at + step + options.length) % options.length]!;
    choose(to[0]);
    const group = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => group.querySelector<HTMLElement>('[aria-checked="true"]')?.focus());
  };
  return (
    <div class="segments" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map(([name, text, title]) => (
        <button
          type="button"
          key={name}
          role="radio"
          aria-checked={name === value}
          tabIndex={name === value ? 0 : -1}
          title={title}
          onClick={() => choose(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
