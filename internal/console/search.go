package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// How much of a long list a page has, and how long what is searched for may be.
const (
	pageSize  = 100
	maxSearch = 256
)

// A search is what is looked for in a list, and which page of what is found.
type search struct {
	Text string
	Type string
	Page int // from 1

	terms []string
}

func searchOf(r *http.Request) search {
	q := r.URL.Query()
	s := search{Text: q.Get("q"), Type: q.Get("type"), Page: 1}
	s.Text, s.Type = s.Text[:min(len(s.Text), maxSearch)], s.Type[:min(len(s.Type), maxSearch)]
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 1 {
		s.Page = n
	}
	s.terms = strings.Fields(strings.ToLower(s.Text))
	return s
}

// finds reports whether each word that is searched for stands in one of the texts, whatever its case.
func (s *search) finds(texts ...string) bool {
	for _, term := range s.terms {
		found := false
		for _, text := range texts {
			if found = containsFold(text, term); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// containsFold is strings.Contains of the text in lower case. Nearly all texts are in lower case already, for which
// nothing is copied.
func containsFold(text, lower string) bool {
	return strings.Contains(text, lower) || strings.Contains(strings.ToLower(text), lower)
}

// A pager says which part of a list a page has, and where the others are.
type pager struct {
	First, Last, Total int
	Previous, Next     string // addresses; "": there is none
}

// pageOf returns one page of a list, of as many as size.
func pageOf[T any](all []T, s search, size int, at *url.URL) ([]T, pager) {
	pages := max(1, (len(all)+size-1)/size)
	n := min(s.Page, pages)
	first := (n - 1) * size
	last := min(first+size, len(all))
	p := pager{First: min(first+1, len(all)), Last: last, Total: len(all)}
	link := func(to int) string {
		q := at.Query()
		q.Set("page", strconv.Itoa(to))
		return at.Path + "?" + q.Encode()
	}
	if n > 1 {
		p.Previous = link(n - 1)
	}
	if n < pages {
		p.Next = link(n + 1)
	}
	return all[first:last], p
}
