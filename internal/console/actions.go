package console

import (
	"net/http"
	"slices"
	"strings"
)

// actionView is the page that asks whether something shall be done, and says what came of it.
type actionView struct {
	Action Action
	*Plan
	Done string // what came of it
}

// How long values of forms may be. That of data is what the definition of Records allows.
const (
	maxReason = 1024
	maxField  = 1024
	maxData   = 262144
)

// errOtherForm is about a form that this session was not shown.
var errOtherForm = &statusError{http.StatusForbidden,
	"The form does not belong to this session. Go back to the page and try again."}

// errShowsOnly is what who has not asked for forms is told.
var errShowsOnly = &statusError{http.StatusForbidden, "This console is read-only. Start it with --edit to have forms."}

func (c *Console) actionOf(r *http.Request) (Action, error) {
	form := func(name string) string { return strings.TrimSpace(r.Form.Get(name)) }
	a := Action{Verb: Verb(form("verb")), Serial: form("serial"), Reason: form("reason"),
		Of: Object{Kind: form("kind"), Namespace: form("namespace"), Name: form("object")}}
	if a.Verb.AboutRecord() {
		a.Of.Kind = recordKind
	}
	if a.Verb.Drafts() {
		a.Draft = Draft{FQDN: form("fqdn"), Type: strings.ToUpper(form("type")), TTL: form("ttl"), Data: form("data")}
	}
	long := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxField })
	}
	switch {
	case !c.opts.Edit:
		return a, errShowsOnly
	case !a.Verb.AboutRecord() && !slices.Contains([]Verb{Approve, Freeze, Thaw, Rollback}, a.Verb):
		return a, &statusError{http.StatusNotFound, "There is no action of that name."}
	case len(a.Reason) > maxReason:
		return a, &statusError{http.StatusBadRequest, "The reason is too long."}
	case len(a.Draft.Data) > maxData || long(a.Of.Namespace, a.Of.Name, a.Draft.FQDN, a.Draft.Type, a.Draft.TTL):
		return a, &statusError{http.StatusBadRequest, "A field is longer than a Record allows."}
	}
	return a, a.Draft.shown()
}

// ask shows what an action would do, with the form that has it done.
func (c *Console) ask(r *http.Request) (*page, error) {
	if err := r.ParseForm(); err != nil {
		return nil, &statusError{http.StatusBadRequest, sentence(err)}
	}
	return c.review(r)
}

// askByForm is ask of what a form says.
func (c *Console) askByForm(r *http.Request) (*page, error) {
	if err := c.readForm(r); err != nil {
		return nil, err
	}
	return c.review(r)
}

func (c *Console) review(r *http.Request) (*page, error) {
	a, err := c.actionOf(r)
	if err != nil {
		return nil, err
	}
	plan, err := c.opts.Source.Plan(r.Context(), a)
	if err != nil {
		return nil, &statusError{http.StatusConflict, sentence(err)}
	}
	return &page{Title: titleOfAction(a), Body: "act", Data: actionView{Action: a, Plan: plan}}, nil
}

func titleOfAction(a Action) string {
	verb := string(a.Verb)
	return strings.ToUpper(verb[:1]) + verb[1:] + " " + a.Of.String()
}

// readForm reads a form, if it is one of the session's own pages.
func (c *Console) readForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &statusError{http.StatusBadRequest, sentence(err)}
	}
	if !takes(r, c.access.formSecret(r)) {
		return errOtherForm
	}
	r.Form = r.PostForm // what stands in the address was not shown
	return nil
}

// act has an action done that was shown.
func (c *Console) act(r *http.Request) (*page, error) {
	if err := c.readForm(r); err != nil {
		return nil, err
	}
	a, err := c.actionOf(r)
	if err != nil {
		return nil, err
	}
	done, err := c.opts.Source.Do(r.Context(), a, r.Form.Get("plan"))
	if err != nil {
		return nil, &statusError{http.StatusConflict, sentence(err)}
	}
	return &page{Title: "Done", Body: "act", Data: actionView{Action: a, Done: done}}, nil
}
