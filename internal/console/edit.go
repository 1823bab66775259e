package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/plain"
)

// recordKind is the kind of the objects that forms are for.
const recordKind = "Record"

// edit shows the form for a Record, if the person may have it written.
func (c *Console) edit(r *http.Request) (*page, error) {
	if !c.opts.Edit {
		return nil, errShowsOnly
	}
	o, q := objectOf(r), r.URL.Query()
	a := Action{Verb: Change, Of: Object{Kind: recordKind, Namespace: o.Namespace, Name: o.Name}}
	var err error
	if o.Name == "" {
		w, _ := c.opts.Source.World()
		if a.Verb = Create; a.Of.Namespace == "" {
			a.Of.Namespace = w.Namespace
		}
		a.Draft = Draft{FQDN: q.Get("fqdn"), Type: q.Get("type")}
		if of := q.Get("in"); of != "" {
			a.Draft.FQDN = "." + strings.TrimPrefix(of, ".")
		}
		err = c.opts.Source.MayCreate(r.Context(), a.Of.Namespace)
	} else {
		a.Draft, err = c.opts.Source.Draft(r.Context(), a.Of)
	}
	if err != nil {
		return nil, &statusError{http.StatusConflict, sentence(err)}
	}
	if err := a.Draft.shown(); err != nil {
		return nil, err
	}
	title := "New record"
	if a.Verb == Change {
		title = titleOfAction(a)
	}
	return &page{Title: title, Body: "edit", Data: actionView{Action: a}}, nil
}

// shown refuses what a field cannot show as it is: nobody would see what is asked for.
func (d Draft) shown() error {
	hides := func(text string) bool { return plain.Line(text) != text }
	if slices.ContainsFunc([]string{d.FQDN, d.Type, d.TTL, d.Data}, hides) {
		return &statusError{http.StatusBadRequest, "The record has characters that a form cannot show, such as the end of " +
			"a line. Write them as escapes (\\DDD), or change the record with kubectl."}
	}
	return nil
}
