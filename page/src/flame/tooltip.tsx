// What stands beside the pointer: the function, where it is, and what it costs.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Shown } from "../shared/outside";

export interface Tip {
  x: number;
  y: number;
  name: Shown;
  where: string;
  rows: [string, string][];
}

export function Tooltip({ tip }: { tip: Tip | null }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !tip) return;
    // Beside the pointer, and never beyond the window.
    const { width, height } = element.getBoundingClientRect();
    const left = Math.min(tip.x + 14, window.innerWidth - width - 8);
    const above = tip.y + 18 + height > window.innerHeight;
    element.style.left = `${Math.max(8, left)}px`;
    element.style.top = `${Math.max(8, above ? tip.y - height - 12 : tip.y + 18)}px`;
  }, [tip]);
  if (!tip) return null;
  return (
    <div class="tooltip" ref={box} role="presentation">
      <div class="tooltip-name">{tip.name}</div>
      {tip.where && <div class="tooltip-where">{tip.where}</div>}
      <table>
        <tbody>
          {tip.rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
