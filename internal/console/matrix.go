package console

import (
	"net/http"
	"slices"
)

// everybody stands for all namespaces.
const everybody = "*"

// Of a matrix, a page shows this many zones beside each other, and this many namespaces below each other.
const (
	matrixZones = 6
	matrixRows  = 50
)

// matrixView is the page of who may have what.
type matrixView struct {
	Search search
	Zones  []Zone // the columns
	Rows   []matrixRow
	Pager  pager // of the zones
	Cut    int   // namespaces that have no row
}

// A matrixRow is one namespace, or everybody.
type matrixRow struct {
	Who   string
	Cells []matrixCell // of each zone
}

// A matrixCell is what a namespace may have in a zone, and how many records it has there.
type matrixCell struct {
	Zone    string
	Rules   []Rule
	Records int
}

func (c *Console) delegation(r *http.Request) (*page, error) {
	w, _ := c.opts.Source.World()
	s := searchOf(r)
	var zones []Zone
	for _, z := range w.Zones {
		if len(z.Rules) > 0 && s.finds(append([]string{z.FQDN, z.Object.String()}, whoIn(&z)...)...) {
			zones = append(zones, z)
		}
	}
	v := matrixView{Search: s}
	v.Zones, v.Pager = pageOf(zones, s, matrixZones, r.URL)
	v.Rows = matrixOf(v.Zones)
	if len(v.Rows) > matrixRows {
		v.Cut, v.Rows = len(v.Rows)-matrixRows, v.Rows[:matrixRows]
	}
	return &page{Title: "Delegation", Body: "delegation", Data: v, Live: true}, nil
}

// whoIn returns the namespaces that the rules of a zone name, and those that have records in it.
func whoIn(z *Zone) []string {
	var out []string
	for _, rule := range z.Rules {
		out = append(out, rule.names()...)
	}
	for _, owner := range z.Owners {
		out = append(out, owner.Namespace)
	}
	return out
}

func (r *Rule) names() []string {
	if len(r.Who) == 0 {
		return []string{everybody}
	}
	return r.Who
}

// matrixOf returns a row for each namespace that has rules or records in one of the zones, everybody first.
func matrixOf(zones []Zone) []matrixRow {
	var all []string
	for i := range zones {
		all = append(all, whoIn(&zones[i])...)
	}
	slices.Sort(all) // the star comes before letters
	var out []matrixRow
	for _, who := range slices.Compact(all) {
		row := matrixRow{Who: who}
		for i := range zones {
			row.Cells = append(row.Cells, cellOf(&zones[i], who))
		}
		out = append(out, row)
	}
	return out
}

func cellOf(z *Zone, who string) matrixCell {
	cell := matrixCell{Zone: titleOf(z)}
	for _, rule := range z.Rules {
		if slices.Contains(rule.names(), who) {
			cell.Rules = append(cell.Rules, rule)
		}
	}
	for _, owner := range z.Owners {
		if owner.Namespace == who {
			cell.Records = owner.Records
		}
	}
	return cell
}
