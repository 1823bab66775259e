package console

import (
	"net/http"
	"slices"
)

// differencesView is the page of what servers hold otherwise.
type differencesView struct {
	Zone        *Zone // nil: none is chosen yet
	Tab         string
	Zones       []Zone
	Differences []Difference
}

func (c *Console) differences(r *http.Request) (*page, error) {
	if objectOf(r).Name == "" {
		w, _ := c.opts.Source.World()
		zones := slices.DeleteFunc(slices.Clone(w.Zones), func(z Zone) bool { return !z.Accepted })
		return &page{Title: "Differences", Body: "differences", Data: differencesView{Zones: zones}}, nil
	}
	z, err := c.zoneOf(r)
	if err != nil {
		return nil, err
	}
	done, err := c.askServers(r)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := c.opts.Source.Differences(r.Context(), z.Object)
	if err != nil {
		return nil, &statusError{http.StatusBadGateway, sentence(err)}
	}
	return &page{Title: "Differences of " + titleOf(z), Body: "differences",
		Data: differencesView{Zone: z, Tab: "differences", Differences: found}}, nil
}

// historyView is the page of what was published.
type historyView struct {
	Zone *Zone
	Tab  string
	*History
}

func (c *Console) history(r *http.Request) (*page, error) {
	z, err := c.zoneOf(r)
	if err != nil {
		return nil, err
	}
	h, err := c.opts.Source.History(r.Context(), z.Object)
	if err != nil {
		return nil, &statusError{http.StatusBadGateway, sentence(err)}
	}
	return &page{Title: "History of " + titleOf(z), Body: "history", Data: historyView{z, "history", h}, Live: true}, nil
}

// actionView is the page that asks whether something shall be done, and says what came of it.
type actionView struct {
	Action Action
	*Plan
	Done string // what came of it
}

// maxReason is how long the reason of a freeze may be.
const maxReason = 1024

func (c *Console) actionOf(r *http.Request) (Action, error) {
	a := Action{Verb: Verb(r.Form.Get("verb")), Serial: r.Form.Get("serial"), Reason: r.Form.Get("reason"),
		Zone: Object{Kind: r.Form.Get("kind"), Namespace: r.Form.Get("namespace"), Name: r.Form.Get("object")}}
	switch {
	case !c.opts.Edit:
		return a, &statusError{http.StatusForbidden, "This console only shows. Start it with --edit to have forms."}
	case !slices.Contains([]Verb{Approve, Freeze, Thaw, Rollback}, a.Verb):
		return a, &statusError{http.StatusNotFound, "There is nothing of that name to be done."}
	case len(a.Reason) > maxReason:
		return a, &statusError{http.StatusBadRequest, "The reason is too long."}
	}
	return a, nil
}

// ask shows what an action would do, with the form that has it done.
func (c *Console) ask(r *http.Request) (*page, error) {
	if err := r.ParseForm(); err != nil {
		return nil, &statusError{http.StatusBadRequest, sentence(err)}
	}
	a, err := c.actionOf(r)
	if err != nil {
		return nil, err
	}
	plan, err := c.opts.Source.Plan(r.Context(), a)
	if err != nil {
		return nil, &statusError{http.StatusConflict, sentence(err)}
	}
	return &page{Title: string(a.Verb) + " " + a.Zone.String(), Body: "act", Data: actionView{Action: a, Plan: plan}}, nil
}

// act has an action done that was shown.
func (c *Console) act(r *http.Request) (*page, error) {
	if err := r.ParseForm(); err != nil {
		return nil, &statusError{http.StatusBadRequest, sentence(err)}
	}
	if !c.guard.takes(r) {
		return nil, &statusError{http.StatusForbidden,
			"The form is not one of this session. Go back to the page and try again."}
	}
	r.Form = r.PostForm // what stands in the address was not shown
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
