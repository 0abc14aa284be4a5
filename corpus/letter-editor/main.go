// Replays the keys with which somebody edits a letter, and draws the editor after each, as a terminal program does.
// Usage: program LETTER KEYS
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"strings"

	"github.com/charmbracelet/bubbles/textarea"
	tea "github.com/charmbracelet/bubbletea"
)

var special = map[rune]tea.KeyType{'<': tea.KeyBackspace, '^': tea.KeyUp, '_': tea.KeyDown, '|': tea.KeyEnter}

func message(key rune) tea.KeyMsg {
	if kind, known := special[key]; known {
		return tea.KeyMsg{Type: kind}
	}
	if key == ' ' {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{key}}
}

func edit(area textarea.Model, keys string) textarea.Model {
	for number, key := range keys {
		area, _ = area.Update(message(key))
		view := area.View()
		if number%40 == 39 {
			place := area.LineInfo()
			fmt.Printf("after %d keys: %d bytes in %d lines, at row %d of %d of line %d, %d rows drawn\n", number+1, len(area.Value()), area.LineCount(),
				place.RowOffset, place.Height, area.Line(), strings.Count(view, "\n"))
		}
	}
	return area
}

func main() {
	letter, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	keys, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.SetWidth(72)
	area.SetHeight(24)
	area.Focus()
	area.SetValue(strings.TrimSpace(string(letter)))
	area = edit(area, strings.TrimSuffix(string(keys), "\n"))
	fmt.Printf("%08x\n", crc32.ChecksumIEEE([]byte(area.Value())))
}
