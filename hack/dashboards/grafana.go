package main

import (
	"encoding/json"
	"fmt"
)

// A Dashboard is one page of Grafana.
type Dashboard struct {
	UID, Title string
	About      string // a sentence
	Choices    []Choice
	Rows       []Row
}

// A Choice is what somebody who looks at a Dashboard may choose: values of one label. An expression has it as $label.
type Choice struct {
	Label  string
	Metric string // that has it
}

// A Row is some panels under a title.
type Row struct {
	Title  string
	Panels []Panel
}

// A Panel is one figure or one graph.
type Panel struct {
	Title, About string
	Figure       bool   // a number, of now; else a graph
	Unit         string // one of Grafana's names
	Lines        []Line
}

// A Line is one query and what its series are called.
type Line struct{ Expr, Legend string }

// Sizes in Grafana's grid, which is 24 wide.
const (
	gridWidth                 = 24
	figureWidth, figureHeight = 4, 4
	graphWidth, graphHeight   = 12, 8
)

// object is one of JSON. Its keys are written in the order of the alphabet.
type object = map[string]any

// source is where Grafana asks: the Prometheus that somebody has chosen.
func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

// JSON writes a Dashboard as Grafana imports it.
func (d Dashboard) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(object{
		"uid": d.UID, "title": d.Title, "description": d.About, "tags": []string{"zonefold", "dns"},
		"schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1, "timezone": "browser", "refresh": "30s",
		"time": object{"from": "now-1h", "to": "now"}, "templating": object{"list": d.choices()}, "panels": d.panels(),
		"links": []object{{"type": "dashboards", "title": "zonefold", "tags": []string{"zonefold"}, "asDropdown": true,
			"keepTime": true, "includeVars": true}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the dashboard %s: %w", d.UID, err)
	}
	return append(text, '\n'), nil
}

func (d Dashboard) choices() []object {
	all := []object{{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}}
	for _, c := range d.Choices {
		all = append(all, object{"name": c.Label, "label": c.Label, "type": "query", "datasource": source(),
			"query":   object{"query": fmt.Sprintf("label_values(%s, %s)", c.Metric, c.Label), "refId": c.Label},
			"refresh": 2, "sort": 1, "multi": true, "includeAll": true, "allValue": ".*",
			"current": object{"text": "All", "value": "$__all"}})
	}
	return all
}

// panels places the panels of each row from left to right, and rows below each other.
func (d Dashboard) panels() []object {
	var all []object
	at := func(x, y, w, h int) object { return object{"x": x, "y": y, "w": w, "h": h} }
	y := 0
	for _, row := range d.Rows {
		all = append(all, object{"id": len(all) + 1, "type": "row", "title": row.Title, "collapsed": false,
			"panels": []object{}, "gridPos": at(0, y, gridWidth, 1)})
		y++
		x, height := 0, 0
		for _, p := range row.Panels {
			w, h := p.size()
			if x+w > gridWidth {
				x, y, height = 0, y+height, 0
			}
			panel := p.draw()
			panel["id"], panel["gridPos"] = len(all)+1, at(x, y, w, h)
			all = append(all, panel)
			x, height = x+w, max(height, h)
		}
		y += height
	}
	return all
}

func (p Panel) size() (w, h int) {
	if p.Figure {
		return figureWidth, figureHeight
	}
	return graphWidth, graphHeight
}

func (p Panel) draw() object {
	var targets []object
	for i, l := range p.Lines {
		targets = append(targets, object{"refId": string(rune('A' + i)), "expr": l.Expr, "legendFormat": l.Legend,
			"datasource": source(), "range": !p.Figure, "instant": p.Figure})
	}
	panel := object{"title": p.Title, "description": p.About, "datasource": source(), "targets": targets,
		"fieldConfig": object{"defaults": object{"unit": p.Unit, "min": 0}, "overrides": []object{}}}
	if p.Figure {
		panel["type"] = "stat"
		panel["options"] = object{"colorMode": "none", "graphMode": "area",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}}}
		return panel
	}
	panel["type"] = "timeseries"
	panel["options"] = object{"legend": object{"displayMode": "table", "placement": "bottom",
		"calcs": []string{"lastNotNull", "max"}}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	return panel
}
