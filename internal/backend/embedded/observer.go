package embedded

// An Observer counts what a server does. Its methods are called by many goroutines, Answered for every answer: they
// must be fast and must not block.
type Observer interface {
	// Answered: one answer was sent. The rcode is one of RFC 6895 §2.3, at most 23.
	Answered(tcp bool, rcode int)
	// Transferred: a transfer was asked for. The kinds are "axfr" and "ixfr", the outcomes those of Outcomes.
	Transferred(kind, outcome string)
	// Notified: telling one server of one change came to an end, as one of NotifyOutcomes.
	Notified(outcome string)
}

// What becomes of a transfer.
const (
	TransferWhole       = "whole"       // the whole zone was sent
	TransferIncrement   = "increment"   // what changed was sent
	TransferCurrent     = "current"     // the client had the newest content
	TransferRefused     = "refused"     // no policy allows it
	TransferUnavailable = "unavailable" // the zone is not served, or too many others transfer
	TransferBroken      = "broken"      // the client went away or was too slow
)

// Outcomes are what can become of a transfer.
func Outcomes() []string {
	return []string{TransferWhole, TransferIncrement, TransferCurrent, TransferRefused, TransferUnavailable,
		TransferBroken}
}

// What becomes of a NOTIFY.
const (
	NotifyAnswered   = "answered"   // the server took it
	NotifyRefused    = "refused"    // the server answered with an error
	NotifyUnanswered = "unanswered" // it was repeated for long enough
)

// NotifyOutcomes are what can become of a NOTIFY.
func NotifyOutcomes() []string { return []string{NotifyAnswered, NotifyRefused, NotifyUnanswered} }

// nobody is for a server that is not observed.
type nobody struct{}

func (nobody) Answered(bool, int)         {}
func (nobody) Transferred(string, string) {}
func (nobody) Notified(string)            {}
