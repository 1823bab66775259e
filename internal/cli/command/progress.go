package command

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressEvery = 250 * time.Millisecond
	quietTicks    = 4 // what takes a second is waited for without a word
)

// A Progress tells people at a terminal how far work is, in a line that it writes again and again. What is written to
// it goes to the terminal in the place of that line.
type Progress struct {
	mu    sync.Mutex
	out   io.Writer
	stage *stage
	ticks int
	shown bool
}

// NewProgress tells of no work yet.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out} }

// A stage is a part of the work whose pieces are alike.
type stage struct {
	name  string
	total int // pieces; 0: they are not counted
	done  atomic.Int64

	since time.Time // of the first look at it
	from  int64     // what was done then
}

// Begin begins a stage, and returns what is to be called for each of its pieces, from wherever.
func (p *Progress) Begin(name string, total int) func() {
	s := &stage{name: name, total: total}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = s
	return func() { s.done.Add(1) }
}

// End ends the last stage, before there is something to read.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = nil
	p.clear()
}

// Write writes what is no progress.
func (p *Progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.out.Write(text)
}

func (p *Progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// show shows how far the work is at a time.
func (p *Progress) show(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticks++
	if p.stage == nil || p.ticks < quietTicks {
		return
	}
	p.clear()
	fmt.Fprint(p.out, p.stage.line(at))
	p.shown = true
}

// line says how far a stage is, and from the second look at it how fast, and how long it will take.
func (s *stage) line(at time.Time) string {
	if s.total == 0 {
		return s.name
	}
	done := s.done.Load()
	out := fmt.Sprintf("%s: %d of %d", s.name, done, s.total)
	if s.since.IsZero() {
		s.since, s.from = at, done
		return out
	}
	rate := float64(done-s.from) / at.Sub(s.since).Seconds()
	if rate < 1 {
		return out
	}
	return fmt.Sprintf("%s, %.0f a second, %.0f s left", out, rate, float64(int64(s.total)-done)/rate)
}
