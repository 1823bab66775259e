package bindcar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// contentFile holds which zones the server is to have: a line "= zone" for each that was declared, then "+ zone" and "-
// zone" for what was added and removed since, so that a change costs one line. The first line says that somebody has
// declared, for which pod, and when the BIND had started that had the zones then.
const (
	contentFile  = ".zonefold-content"
	contentFirst = "declared"
)

// A content is the declared content. What was declared for another pod is none: the volume was away, and nobody knows
// what it has missed.
type content struct {
	path string
	pod  string // ours

	mu       sync.Mutex
	declared bool
	boot     string // when BIND had started when it was declared, in BIND's words
	zones    map[string]bool
	torn     bool // the file may end inside a line, which a crash or a full disk cut off, and has to be written whole
}

func openContent(dir, pod string) (*content, error) {
	c := &content{path: filepath.Join(dir, contentFile), pod: pod, zones: map[string]bool{}}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the declared content: %w", err)
	}
	first := true
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		mark, name, _ := strings.Cut(line, " ")
		switch {
		case first:
			of, boot, _ := strings.Cut(name, " ")
			c.declared, c.boot = mark == contentFirst && of == pod, boot
		case !c.declared:
		case !whole:
			c.torn = true // what it says was not answered
		case mark == "-":
			delete(c.zones, name)
		default:
			c.zones[name] = true
		}
		first = false
	}
	return c, nil
}

// get lists the declared zones in order.
func (c *content) get() (zones []string, declared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	zones = make([]string, 0, len(c.zones))
	for name := range c.zones {
		zones = append(zones, name)
	}
	slices.Sort(zones)
	return zones, c.declared
}

// confirmed reports whether the content was declared since BIND started.
func (c *content) confirmed(boot string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.declared && c.boot == boot
}

// set declares the whole content, of a BIND that started then.
func (c *content) set(zones []string, boot string) error {
	next := make(map[string]bool, len(zones))
	for _, name := range zones {
		next[name] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boot = boot
	return c.replace(next)
}

// replace writes the file whole.
func (c *content) replace(zones map[string]bool) error {
	var b strings.Builder
	b.WriteString(strings.TrimRight(contentFirst+" "+c.pod+" "+c.boot, " ") + "\n")
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		b.WriteString("= " + name + "\n")
	}
	if err := replaceFile(c.path, []byte(b.String())); err != nil {
		return err
	}
	c.zones, c.declared, c.torn = zones, true, false
	return nil
}

// add and remove change what was declared; before that there is nothing to change.
func (c *content) add(zone string) error    { return c.change("+ ", zone, true) }
func (c *content) remove(zone string) error { return c.change("- ", zone, false) }

func (c *content) change(mark, zone string, there bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.declared || c.zones[zone] == there {
		return nil
	}
	if c.torn {
		next := maps.Clone(c.zones)
		put(next, zone, there)
		return c.replace(next)
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		c.torn = true
		return fmt.Errorf("writing the declared content: %w", err)
	}
	_, err = f.WriteString(mark + zone + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		c.torn = true
		return fmt.Errorf("writing the declared content: %w", err)
	}
	put(c.zones, zone, there)
	return nil
}

func put(zones map[string]bool, zone string, there bool) {
	if zones[zone] = true; !there {
		delete(zones, zone)
	}
}

func (s *Server) getContent(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	zones, declared := s.content.get()
	if declared && s.settings.RequireContent {
		boot, err := s.boot(r.Context())
		declared = err == nil && s.content.confirmed(boot)
	}
	return http.StatusOK, ContentStatus{Declared: declared, Zones: zones}, nil
}

// boot is when BIND started, in its words.
func (b *bind) boot(ctx context.Context) (string, error) {
	text, err := b.control.server(ctx, "status")
	if err != nil {
		return "", unavailable("asking BIND when it started", err)
	}
	return statusLine(text, "boot time"), nil
}

func (s *Server) putContent(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c Content
	if err := decode(w, r, &c); err != nil {
		return 0, nil, err
	}
	for i, name := range c.Zones {
		zone, err := parseZone(name)
		if err != nil {
			return 0, nil, err
		}
		c.Zones[i] = zone.text()
	}
	var boot string
	if s.settings.RequireContent {
		var err error
		if boot, err = s.boot(r.Context()); err != nil {
			return 0, nil, err
		}
	}
	if err := s.content.set(c.Zones, boot); err != nil {
		return 0, nil, err
	}
	s.loaded.stale()
	zones, declared := s.content.get()
	return http.StatusOK, ContentStatus{Declared: declared, Zones: zones}, nil
}
