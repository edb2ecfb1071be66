package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A bar shows how far a run is, when it is long and somebody watches.
type bar struct {
	out   io.Writer // nil: nobody watches
	start time.Time
	shown time.Time
}

// Runs shorter than this end before a bar would be read.
const barAfter = time.Second

func newBar(out io.Writer) *bar {
	b := &bar{start: time.Now()}
	if isTerminal(out) {
		b.out = out
	}
	return b
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (b *bar) show(done float64) {
	const every = 100 * time.Millisecond
	now := time.Now()
	if b.out == nil || now.Sub(b.start) < barAfter || now.Sub(b.shown) < every {
		return
	}
	b.shown = now
	fmt.Fprint(b.out, "\r"+barLine(done))
}

func barLine(done float64) string {
	const length = 40
	done = min(max(done, 0), 1)
	full := int(done * length)
	return fmt.Sprintf("[%s%s] %3.0f%%  Ctrl-C prints what there is", strings.Repeat("#", full), strings.Repeat(".", length-full), done*100)
}

func (b *bar) clear() {
	if !b.shown.IsZero() {
		fmt.Fprintf(b.out, "\r%s\r", strings.Repeat(" ", width-1))
	}
}
