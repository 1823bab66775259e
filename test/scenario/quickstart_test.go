package scenario

import "testing"

func TestQuickstartIsServedByBIND(t *testing.T) {
	w := newWorld(t)
	bind := w.bind("example.org.", "team-a.example.org.", "team-b.example.org.")
	w.backend("bind", "default: true", bind)
	w.start("--verbose")
	w.kubectl("apply", "-f", root("examples", "quickstart"))
	w.answers(bind, "example.org.", "MX", "10 mail.example.org.")
	w.answers(bind, "mail.example.org.", "A", "192.0.2.25")
	w.field("zones.kubi.zone/example-org", "dns", cond("Ready", "status"), "True")
}
