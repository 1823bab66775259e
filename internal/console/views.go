package console

import (
	"net/http"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/explained"
)

// zonesView is the page of all zones.
type zonesView struct {
	Search search
	Zones  []Zone
	Pager  pager
}

func (c *Console) zones(r *http.Request) (*page, error) {
	w, _ := c.opts.Source.World()
	s := searchOf(r)
	found := w.Zones
	if len(s.terms) > 0 {
		found = nil
		for _, z := range w.Zones {
			if s.finds(z.FQDN, z.Object.String()) {
				found = append(found, z)
			}
		}
	}
	v := zonesView{Search: s}
	v.Zones, v.Pager = pageOf(found, s, pageSize, r.URL)
	return &page{Title: "Zones", Body: "zones", Data: v, Live: true}, nil
}

// objectOf returns the object that a request names.
func objectOf(r *http.Request) Object {
	q := r.URL.Query()
	return Object{Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("object")}
}

// zoneOf returns the zone that a request names.
func (c *Console) zoneOf(r *http.Request) (*Zone, error) {
	o := objectOf(r)
	w, _ := c.opts.Source.World()
	for i := range w.Zones {
		if w.Zones[i].Object == o {
			return &w.Zones[i], nil
		}
	}
	return nil, &statusError{http.StatusNotFound, "There is no such zone that you may see."}
}

// zoneView is the page of one zone and its records.
type zoneView struct {
	Zone    *Zone
	Tab     string
	Search  search
	Types   []string // of the records that are there
	Records []Record
	Pager   pager
}

func (c *Console) zone(r *http.Request) (*page, error) {
	z, err := c.zoneOf(r)
	if err != nil {
		return nil, err
	}
	s := searchOf(r)
	all, _ := c.opts.Source.Records(z.Object)
	v := zoneView{Zone: z, Tab: "records", Search: s}
	v.Types = typesOf(all)
	v.Records, v.Pager = pageOf(searchRecords(all, s), s, pageSize, r.URL)
	return &page{Title: titleOf(z), Body: "zone", Data: v, Live: true}, nil
}

func titleOf(z *Zone) string {
	if z.FQDN != "" {
		return z.FQDN
	}
	return z.Object.String()
}

func typesOf(all []Record) []string {
	seen := map[string]bool{}
	var out []string
	for i := range all {
		if !seen[all[i].Type] {
			seen[all[i].Type] = true
			out = append(out, all[i].Type)
		}
	}
	slices.Sort(out)
	return out
}

// searchRecords returns the sets of the type in which each word that is searched for stands: in the name, the type, the
// data, or the name of an object.
func searchRecords(all []Record, s search) []Record {
	if len(s.terms) == 0 && s.Type == "" {
		return all
	}
	var out []Record
	var texts []string
	for i := range all {
		set := &all[i]
		if s.Type != "" && set.Type != s.Type {
			continue
		}
		texts = append(texts[:0], set.Name, set.Unicode, set.Type)
		texts = append(texts, set.Data...)
		for j := range set.Objects {
			texts = append(texts, set.Objects[j].Namespace, set.Objects[j].Name)
		}
		if s.finds(texts...) {
			out = append(out, *set)
		}
	}
	return out
}

// explainView is the page of a name or an object.
type explainView struct {
	Question Question
	Besides  []string // what could not be seen for this alone
	*explained.Explanation
}

func (c *Console) explain(r *http.Request) (*page, error) {
	q := r.URL.Query()
	ask := Question{Name: q.Get("name"), Type: q.Get("type"), Object: objectOf(r)}
	if ask.Name == "" && ask.Object.Name == "" {
		return &page{Title: "Explain a name", Body: "question"}, nil
	}
	done, err := c.askServers(r)
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := c.opts.Source.Explain(r.Context(), ask)
	if err != nil {
		return nil, &statusError{http.StatusNotFound, sentence(err)}
	}
	title := e.Name
	if title == "" {
		title = ask.Object.String()
	}
	w, _ := c.opts.Source.World()
	besides := slices.DeleteFunc(slices.Clone(e.Unseen), func(what string) bool { return slices.Contains(w.Unseen, what) })
	return &page{Title: title, Body: "explain", Data: explainView{ask, besides, e}, Live: true}, nil
}

// askServers waits for a place among the questions that servers are asked for.
func (c *Console) askServers(r *http.Request) (done func(), err error) {
	select {
	case c.asking <- struct{}{}:
		return func() { <-c.asking }, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// sentence makes an error one.
func sentence(err error) string {
	text := err.Error()
	if len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' {
		text = string(text[0]-'a'+'A') + text[1:]
	}
	return text + "."
}

func (c *Console) servers(*http.Request) (*page, error) {
	w, _ := c.opts.Source.World()
	return &page{Title: "Servers", Body: "servers", Data: w.Backends, Live: true}, nil
}

// refusedView is the page of what is refused.
type refusedView struct {
	Search  search
	Refused []Refusal
	Pager   pager
}

func (c *Console) refused(r *http.Request) (*page, error) {
	w, _ := c.opts.Source.World()
	s := searchOf(r)
	found := slices.DeleteFunc(slices.Clone(w.Refused), func(o Refusal) bool {
		return !s.finds(o.Object.String(), o.FQDN, o.Type, o.Reason, o.Message)
	})
	v := refusedView{Search: s}
	v.Refused, v.Pager = pageOf(found, s, pageSize, r.URL)
	return &page{Title: "Refused", Body: "refused", Data: v, Live: true}, nil
}
