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
