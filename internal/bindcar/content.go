package bindcar

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// contentFile holds which zones the server is to have: a line "= zone" for each that was declared, then "+ zone" and "- zone"
// for what was added and removed since, so that a change costs one line. The first line says that somebody has declared.
const (
	contentFile  = ".zonefold-content"
	contentFirst = "declared"
)

// A content is the declared content.
type content struct {
	path string

	mu       sync.Mutex
	declared bool
	zones    map[string]bool
}

func openContent(dir string) (*content, error) {
	c := &content{path: filepath.Join(dir, contentFile), zones: map[string]bool{}}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the declared content: %w", err)
	}
	first := true
	for line := range strings.Lines(string(text)) {
		mark, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case first:
			c.declared = mark == contentFirst
		case mark == "-":
			delete(c.zones, name)
		case strings.HasSuffix(line, "\n"): // a line without its end was cut off by a crash, and what it says was not answered
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

// set declares the whole content.
func (c *content) set(zones []string) error {
	var b strings.Builder
	b.WriteString(contentFirst + "\n")
	next := make(map[string]bool, len(zones))
	for _, name := range zones {
		if !next[name] {
			b.WriteString("= " + name + "\n")
		}
		next[name] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := replaceFile(c.path, []byte(b.String())); err != nil {
		return err
	}
	c.zones, c.declared = next, true
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
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return fmt.Errorf("writing the declared content: %w", err)
	}
	_, err = f.WriteString(mark + zone + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the declared content: %w", err)
	}
	if there {
		c.zones[zone] = true
	} else {
		delete(c.zones, zone)
	}
	return nil
}

func (s *Server) getContent(http.ResponseWriter, *http.Request) (int, any, error) {
	zones, declared := s.content.get()
	return http.StatusOK, ContentStatus{Declared: declared, Zones: zones}, nil
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
	if err := s.content.set(c.Zones); err != nil {
		return 0, nil, err
	}
	s.loaded.stale()
	return s.getContent(w, r)
}
