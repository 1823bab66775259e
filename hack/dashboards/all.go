package main

import "fmt"

// dashboards returns all that there are.
func dashboards() []Dashboard {
	return []Dashboard{overview(), way(), server(), fleet(), webhook(), account()}
}

// Grafana's names of units.
const (
	number, perSecond, seconds, octets, share = "short", "ops", "s", "bytes", "percentunit"
)

// healthy are the reasons of objects about which there is nothing to do.
const healthy = `reason!~"Accepted|New|Processing|Pending|Succeeded"`

// operators has what all processes have only for those that are operators.
const operators = " and on (job, instance) zonefold_changes_total"

func figure(title, about, expr string) Panel {
	return Panel{Title: title, About: about, Figure: true, Unit: number, Lines: []Line{{expr, ""}}}
}

func graph(title, about, unit string, lines ...Line) Panel {
	return Panel{Title: title, About: about, Unit: unit, Lines: lines}
}

// perLabel is a counter's rate, by labels.
func perLabel(labels, legend, counter string) Line {
	return Line{fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", labels, counter), legend}
}

// quantiles are those of a histogram. A selector may be empty.
func quantiles(histogram, selector string) (lines []Line) {
	for _, q := range []string{"0.5", "0.95", "0.99"} {
		lines = append(lines, Line{fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(%s_bucket%s[$__rate_interval])))", q,
			histogram, selector), "quantile " + q})
	}
	return lines
}

func overview() Dashboard {
	return Dashboard{UID: "zonefold-overview", Title: "zonefold: overview",
		About: "Whether all is well: what objects ask for, what servers have, and what waits for somebody.",
		Rows: []Row{
			{"Now", []Panel{
				figure("Replicas", "Operators that Prometheus sees.", `count(zonefold_changes_total)`),
				figure("Leaders", "There should be one. Without election there is none, and the one operator acts.",
					`sum(leader_election_master_status{name="zonefold-operator"})`),
				figure("Accepted", "Objects that are accepted.", `sum(zonefold_objects{reason="Accepted"}) or vector(0)`),
				figure("Refused", "Objects that are refused.", `sum(zonefold_objects{`+healthy+`}) or vector(0)`),
				figure("Deletions held", "Record sets whose deletion waits for zonefold approve.",
					`sum(zonefold_held_sets) or vector(0)`),
				figure("Left behind", "Zones of deleted objects that servers may still have.",
					`sum(zonefold_left_behind_zones) or vector(0)`),
			}},
			{"Changes", []Panel{
				graph("Changes of objects", "Changes that were taken in.", perSecond,
					Line{`sum(rate(zonefold_changes_total[$__rate_interval]))`, "changes"}),
				graph("From change to served", "Until every server has confirmed a changed zone.", seconds,
					quantiles("zonefold_change_to_served_seconds", "")...),
				graph("Objects", "By kind and verdict.", number, Line{`sum by (kind, reason) (zonefold_objects)`,
					"{{kind}} {{reason}}"}),
				graph("Errors of servers", "Failed calls, by kind of server and class of error.", perSecond,
					perLabel("backend, class", "{{backend}} {{class}}", "zonefold_backend_errors_total")),
				graph("Sets changed on servers", "By kind of server.", perSecond,
					perLabel("backend", "{{backend}}", "zonefold_backend_changed_sets_total")),
				graph("Answers of the operator's name server", "By response code; there are none without it.", perSecond,
					perLabel("rcode", "{{rcode}}", "zonefold_dns_answers_total")),
			}},
			{"The program", []Panel{
				graph("CPU", "Of each operator; 1 is one core.", number,
					Line{`rate(process_cpu_seconds_total[$__rate_interval])` + operators, "{{instance}}"}),
				graph("Memory", "Of each operator.", octets, Line{`process_resident_memory_bytes` + operators, "{{instance}}"}),
				graph("Writes to the API server", "There are none while nothing changes.", perSecond,
					perLabel("kind, what", "{{kind}} {{what}}", "zonefold_api_writes_total")),
				graph("Requests to the API server", "All of them, by status.", perSecond,
					perLabel("method, code", "{{method}} {{code}}", "rest_client_requests_total")),
			}},
		}}
}

func way() Dashboard {
	return Dashboard{UID: "zonefold-way", Title: "zonefold: a zone's way",
		About: "From an object to what a server answers, step by step: where does a change spend its time?",
		Rows: []Row{
			{"1. Objects are taken in and settled", []Panel{
				graph("Changes of objects", "Changes that were taken in.", perSecond,
					Line{`sum(rate(zonefold_changes_total[$__rate_interval]))`, "changes"}),
				graph("Settling", "To find out who has what after changes; one step takes in all that wait.", seconds,
					quantiles("zonefold_settle_seconds", "")...),
				graph("Changes in one step", "More than one: objects change faster than zones are settled.", number,
					Line{`sum(rate(zonefold_changes_total[$__rate_interval])) / ` +
						`sum(rate(zonefold_settle_seconds_count[$__rate_interval]))`, "changes"}),
				graph("Refused objects", "By kind and reason.", number,
					Line{`sum by (kind, reason) (zonefold_objects{` + healthy + `})`, "{{kind}} {{reason}}"}),
			}},
			{"2. Servers are written to", []Panel{
				graph("Batches", "Sent to servers, by their kind.", perSecond,
					perLabel("backend", "{{backend}}", "zonefold_backend_apply_seconds_count")),
				graph("Time of a batch", "0.95 of them take no longer, by kind of server.", seconds, p95("apply", "")),
				graph("Sets in a batch", "The more a server has to do, the more go together.", number,
					Line{`sum by (backend) (rate(zonefold_backend_changed_sets_total[$__rate_interval])) / ` +
						`sum by (backend) (rate(zonefold_backend_apply_seconds_count[$__rate_interval]))`, "{{backend}}"}),
				graph("Refused sets", "That a server, or its limits, refused.", perSecond,
					perLabel("backend", "{{backend}}", "zonefold_backend_refused_sets_total")),
			}},
			{"3. What was written is read back", []Panel{
				graph("Readings", "At first contact, after errors, in audits, and to confirm.", perSecond,
					perLabel("backend", "{{backend}}", "zonefold_backend_read_seconds_count")),
				graph("Time of a reading", "0.95 of them take no longer, by kind of server.", seconds, p95("read", "")),
			}},
			{"4. It is served, and objects say so", []Panel{
				graph("From change to served", "All of the way.", seconds, quantiles("zonefold_change_to_served_seconds", "")...),
				graph("Statuses written", "Of objects, by kind.", perSecond,
					perLabel("kind", "{{kind}}", `zonefold_api_writes_total{what="status"}`)),
				graph("Followers told", "By the operator's own name server.", perSecond,
					perLabel("outcome", "{{outcome}}", "zonefold_dns_notifies_total")),
				graph("Transfers", "Asked of the operator's own name server.", perSecond,
					perLabel("kind, outcome", "{{kind}} {{outcome}}", "zonefold_dns_transfers_total")),
			}},
		}}
}

// p95 is a quantile of what servers take to be written to (apply) or read, by their kind.
func p95(what, selector string) Line {
	return Line{fmt.Sprintf("histogram_quantile(0.95, sum by (backend, le) "+
		"(rate(zonefold_backend_%s_seconds_bucket%s[$__rate_interval])))", what, selector), "{{backend}}"}
}
