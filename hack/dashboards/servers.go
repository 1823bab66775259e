package main

// backends is the choice of kinds of servers.
func backends() []Choice { return []Choice{{"backend", "zonefold_backend_read_seconds_count"}} }

// calls are the panels on calls of servers that a selector means.
func calls(selector, errors string) []Panel {
	return []Panel{
		graph("Time of a batch", "How long servers take for what is sent to them.", seconds,
			quantiles("zonefold_backend_apply_seconds", selector)...),
		graph("Time of a reading", "How long it takes to read a zone.", seconds,
			quantiles("zonefold_backend_read_seconds", selector)...),
		graph("Batches and readings", "Calls, with those that failed.", perSecond,
			perLabel("backend", "{{backend}} batches", "zonefold_backend_apply_seconds_count"+selector),
			perLabel("backend", "{{backend}} readings", "zonefold_backend_read_seconds_count"+selector)),
		graph("Errors", "Failed calls by class; docs/alerts.md says what to do about each.", perSecond,
			perLabel("backend, class", "{{backend}} {{class}}", "zonefold_backend_errors_total"+errors)),
		graph("Sets changed", "In batches that were accepted.", perSecond,
			perLabel("backend", "{{backend}}", "zonefold_backend_changed_sets_total"+selector)),
		graph("Sets refused", "By servers, or because of their limits; once for each attempt.", perSecond,
			perLabel("backend", "{{backend}}", "zonefold_backend_refused_sets_total"+selector)),
	}
}

func server() Dashboard {
	const these = `{backend=~"$backend"}`
	return Dashboard{UID: "zonefold-server", Title: "zonefold: servers",
		About: "How servers of one kind, or of all, do. No metric names a Backend: kubectl get backends says which one " +
			"fails.",
		Choices: backends(),
		Rows: []Row{
			{"Now", []Panel{
				figure("Failed in an hour", "Calls that failed, but for conflicts with what others wrote, which are tried again.",
					`sum(increase(zonefold_backend_errors_total{backend=~"$backend", class!="conflict"}[1h]))`),
				figure("Deletions held", "Record sets whose deletion waits for zonefold approve.",
					`sum(zonefold_held_sets`+these+`)`),
				figure("Left behind", "Zones of deleted objects that servers may still have.",
					`sum(zonefold_left_behind_zones`+these+`)`),
				figure("Sets changed in an hour", "On servers.",
					`sum(increase(zonefold_backend_changed_sets_total`+these+`[1h]))`),
			}},
			{"Calls", calls(these, these)},
		}}
}

func fleet() Dashboard {
	const fleets = `{backend="bind9"}`
	const kinds = `kind=~"(A|AAAA|CAA|CNAME|MX|NS|PTR|SRV|TXT)Record|DNSZone"`
	return Dashboard{UID: "zonefold-fleet", Title: "zonefold: BIND fleets",
		About: "The servers that the operator runs for objects of bindy.firestoned.io, and their zones.",
		Rows: []Row{
			{"Objects", []Panel{
				graph("DNSZones and records", "By kind and verdict.", number,
					Line{`sum by (kind, reason) (zonefold_objects{` + kinds + `})`, "{{kind}} {{reason}}"}),
				graph("Writes", "To objects and to the parts of fleets. There are none while nothing changes.", perSecond,
					perLabel("kind, what", "{{kind}} {{what}}", "zonefold_api_writes_total")),
			}},
			{"Servers", append(calls(fleets, fleets),
				graph("Deletions held", "Record sets whose deletion waits for zonefold approve.", number,
					Line{`sum(zonefold_held_sets` + fleets + `)`, "sets"}))},
		}}
}

func webhook() Dashboard {
	const these = `{class=~"$class"}`
	return Dashboard{UID: "zonefold-webhook", Title: "zonefold: webhook classes",
		About:   "DNSClasses and DNSRecords of dns.homelab.mortenolsen.pro, and the servers that they are delivered to.",
		Choices: []Choice{{"class", "zonefold_dnshook_requests_total"}},
		Rows: []Row{
			{"Records", []Panel{
				graph("DNSRecords", "By the state in their status.", number, Line{`sum by (state) (zonefold_dnsrecords)`, "{{state}}"}),
				graph("Waiting", "Records that wait for their turn.", number, Line{`sum by (class) (zonefold_dnshook_queue` + these + `)`,
					"{{class}}"}),
			}},
			{"Calls", []Panel{
				graph("Calls", "By operation.", perSecond,
					perLabel("class, operation", "{{class}} {{operation}}", "zonefold_dnshook_requests_total"+these)),
				graph("Failed calls", "By reason; docs/homelab.md says what each means.", perSecond, perLabel("class, result",
					"{{class}} {{result}}", `zonefold_dnshook_requests_total{class=~"$class", result!="Success"}`)),
				graph("Share that fails", "Of the calls of each class.", share,
					Line{`sum by (class) (rate(zonefold_dnshook_requests_total{class=~"$class", result!="Success"}[$__rate_interval])) / ` +
						`sum by (class) (rate(zonefold_dnshook_requests_total{class=~"$class"}[$__rate_interval]))`, "{{class}}"}),
				graph("Time of a call", "Of all operations.", seconds, quantiles("zonefold_dnshook_request_seconds", these)...),
			}},
		}}
}

func account() Dashboard {
	const these = `{backend=~"$backend"}`
	const records = `{kind="DNSRecord.extensions.gardener.cloud"}`
	return Dashboard{UID: "zonefold-account", Title: "zonefold: accounts of Gardener",
		About: "DNSRecords of extensions.gardener.cloud and the services that they go to. The backend is the type of the " +
			"DNSRecord, such as aws-route53.",
		Choices: backends(),
		Rows: []Row{
			{"DNSRecords", []Panel{
				graph("DNSRecords", "By the state of their last operation.", number,
					Line{`sum by (reason) (zonefold_objects` + records + `)`, "{{reason}}"}),
				graph("Writes", "To DNSRecords.", perSecond,
					perLabel("what", "{{what}}", `zonefold_api_writes_total{kind="DNSRecord"}`)),
			}},
			{"Services", append(calls(these, these), graph("Throttled", "Calls that a service put off: it limits the account.",
				perSecond, perLabel("backend", "{{backend}}",
					`zonefold_backend_errors_total{backend=~"$backend", class="throttled"}`)))},
		}}
}
