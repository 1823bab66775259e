package controller

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/zone"
)

// Types of conditions.
const (
	ConditionAccepted   = "Accepted"      // the object may be what it asks to be; reasons: those of package zone
	ConditionServed     = "Served"        // every Backend has confirmed it
	ConditionReady      = "Ready"         // Accepted and Served; the reason of whichever is not
	ConditionWarning    = "Warning"       // True: something about an accepted object deserves a look; absent otherwise
	ConditionRestricted = "Restricted"    // of a Backend: a root Zone needs a grant
	ConditionSliced     = "Sliced"        // True: the rest of status.entries is in ZoneSlices; absent otherwise
	ConditionHeld       = "DeletionsHeld" // True: servers still have what no object asks for; absent otherwise
	ConditionFrozen     = "Frozen"        // True: what is published stays as it is; absent otherwise
	ConditionStalled    = "Stalled"       // True: only a change of the object makes it ready; absent otherwise
)

// Reasons of Served and Ready, besides those of package zone.
const (
	ReasonServed            = "Served"            // every Backend has confirmed it
	ReasonPending           = "Pending"           // on its way
	ReasonNotAccepted       = "NotAccepted"       // nothing of it is served
	ReasonNoBackend         = "NoBackend"         // no Backend serves the zone
	ReasonBackendNotReady   = "BackendNotReady"   // a Backend cannot be used; see its conditions
	ReasonBackendNotFound   = "BackendNotFound"   // backendRefs names a Backend that does not exist
	ReasonBackendNotGranted = "BackendNotGranted" // backendRefs names a Backend that does not grant the zone
	ReasonObserving         = "Observing"         // the Backends only observe
	ReasonWithdrawing       = "Withdrawing"       // what was published is being removed
	ReasonInSlices          = "InSlices"          // the entries are in ZoneSlices
	ReasonFrozen            = "Frozen"            // the Zone is frozen, and this waits
	ReasonRolledBack        = "RolledBack"        // of Frozen: what is published is an earlier content
	ReasonRollbackRefused   = "RollbackRefused"   // of Frozen: the history cannot tell that content
	ReasonReady             = "Ready"             // a Backend can be used

	// By the class of a Backend's error.
	ReasonNoSuchZone    = "NoSuchZone"    // the server does not have the zone
	ReasonRejected      = "Rejected"      // the server does not take it
	ReasonOwned         = "Owned"         // an external-dns has it, by its registry
	ReasonNotAuthorised = "NotAuthorised" // the server does not take the credentials
	ReasonUnavailable   = "Unavailable"   // the server does not answer
	ReasonTooLarge      = "TooLarge"      // the server says more than one reading may cost
	ReasonThrottled     = "Throttled"     // the server asks to wait
	ReasonConflict      = "Conflict"      // somebody else writes to the zone
	ReasonHeld          = "Held"          // another Zone has the place

	// Of DeletionsHeld.
	ReasonTooManyDeletions = "TooManyDeletions" // more than the protection of a Backend allows
	ReasonUpsertOnly       = "UpsertOnly"       // the policy of a Backend deletes nothing
	ReasonCreateOnly       = "CreateOnly"       // the policy of a Backend changes nothing either; of Served, too
	ReasonNothingHeld      = "NothingHeld"      // of an event: no deletion is held any more

	ReasonLeftBehind = "LeftBehind" // of an event: a deleted Zone is gone, and some Backend has it still

	// Of a Backend's configuration.
	ReasonInvalidSpec     = "InvalidSpec"     // the spec contradicts itself or cannot be read
	ReasonNotSupported    = "NotSupported"    // this operator has no such backend
	ReasonSecretNotFound  = "SecretNotFound"  // no Secret or no such key in it
	ReasonSecretForbidden = "SecretForbidden" // the Secret does not consent to being read

	// Of Restricted.
	ReasonGranted           = "Granted"           // some Backend has grants
	ReasonGrantsRequired    = "GrantsRequired"    // none has any, and the operator requires them
	ReasonNoGrants          = "NoGrants"          // none has any, and the cluster is open
	ReasonEverythingGranted = "EverythingGranted" // one grants everything to all namespaces

	// Warning.

	ReasonInvalidGrant  = "InvalidGrant"  // a grant that cannot be read gives nothing
	ReasonClientsHidden = "ClientsHidden" // transfers go by addresses, and the name server sees those of nodes
	ReasonCatalogTaken  = "CatalogTaken"  // an older Backend has a catalog zone of this name
)

// ReasonOf returns the reason for a class of a backend's error.
func ReasonOf(class backend.ErrorClass) string {
	switch class {
	case backend.ErrNoZone:
		return ReasonNoSuchZone
	case backend.ErrRejected:
		return ReasonRejected
	case backend.ErrNotAuthorised:
		return ReasonNotAuthorised
	case backend.ErrThrottled:
		return ReasonThrottled
	case backend.ErrTooLarge:
		return ReasonTooLarge
	case backend.ErrConflict:
		return ReasonConflict
	case backend.ErrHeld:
		return ReasonHeld
	}
	return ReasonUnavailable
}

// The longest message that a condition may have, and the longest note of an event.
const (
	maxMessage = 32768
	maxNote    = 1024
)

// Note returns a message as an event takes it.
func Note(message string) string { return Cut(message, maxNote) }

// Cut shortens a text to a number of octets.
func Cut(message string, limit int) string {
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit-3], "") + "..."
}

// An Outcome is the state of one condition.
type Outcome struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// OK makes an outcome that is True.
func OK(reason, message string) Outcome {
	return Outcome{metav1.ConditionTrue, reason, oneStop(message)}
}

// Not makes an outcome that is False.
func Not(reason, message string) Outcome {
	return Outcome{metav1.ConditionFalse, reason, oneStop(message)}
}

// oneStop has a sentence whose last word is a domain name, or that ends with another sentence, end in one full stop.
func oneStop(message string) string {
	if strings.HasSuffix(message, "..") && !strings.HasSuffix(message, "...") {
		return message[:len(message)-1]
	}
	return message
}

// SameOutcome reports whether two outcomes, either of which may be none, say the same.
func SameOutcome(a, b *Outcome) bool { return a == b || a != nil && b != nil && *a == *b }

// Conditions builds the conditions of one object. A condition keeps its transition
// time for as long as its status does, so that writing them again changes nothing.
type Conditions struct {
	Old        []metav1.Condition
	Generation int64
	Now        time.Time
	list       []metav1.Condition
}

// Set adds a condition. With Ready it adds Stalled where nothing but a change of the object helps.
func (c *Conditions) Set(kind string, o Outcome) {
	n := metav1.Condition{
		Type: kind, Status: o.Status, Reason: o.Reason, Message: Cut(o.Message, maxMessage),
		ObservedGeneration: c.Generation, LastTransitionTime: metav1.NewTime(c.Now.Truncate(time.Second)),
	}
	if i := slices.IndexFunc(c.Old, func(o metav1.Condition) bool { return o.Type == kind }); i >= 0 &&
		c.Old[i].Status == n.Status {
		n.LastTransitionTime = c.Old[i].LastTransitionTime
	}
	c.list = append(c.list, n)
	if kind == ConditionReady && o.Status == metav1.ConditionFalse && isMistake(o.Reason) {
		c.Stall(o)
	}
}

// Stall adds that nothing but a change of the object helps, by the outcome that Ready has.
func (c *Conditions) Stall(ready Outcome) { c.Set(ConditionStalled, OK(ready.Reason, ready.Message)) }

// isMistake reports whether a reason of Ready is a mistake in the object itself. kstatus, by which Flux and others
// wait, takes Stalled for final: what another object, a rule or a server can put right is not.
func isMistake(reason string) bool {
	switch reason {
	case string(zone.InvalidName), ReasonInvalidSpec, string(zone.InvalidData), string(zone.InvalidType),
		string(zone.ClassMismatch), string(zone.ReferenceCycle):
		return true
	}
	return false
}

// Judged sets Accepted, Served, Ready and, if there is something to warn of, Warning,
// from a verdict and what came of the delivery.
func (c *Conditions) Judged(v zone.Verdict, served Outcome) {
	accepted := OK(string(v.Reason), v.Message)
	if !v.Accepted {
		accepted = Not(string(v.Reason), v.Message)
		served = Not(ReasonNotAccepted, "Nothing of it is served because it is not accepted.")
	} else if note, hidden := v.Note(zone.Occluded); hidden {
		served = Not(string(note.Reason), note.Message)
	}
	c.Set(ConditionAccepted, accepted)
	c.Set(ConditionServed, served)
	switch {
	case !v.Accepted:
		c.Set(ConditionReady, accepted)
	case served.Status != metav1.ConditionTrue:
		c.Set(ConditionReady, served)
	default:
		c.Set(ConditionReady, OK(ReasonReady, served.Message))
	}
	var warnings []string
	var reason string
	for _, n := range v.Notes {
		if v.Accepted && n.Reason != zone.Occluded {
			warnings = append(warnings, n.Message)
			if reason == "" {
				reason = string(n.Reason)
			}
		}
	}
	if reason != "" {
		c.Set(ConditionWarning, OK(reason, strings.Join(warnings, " ")))
	}
}

// List returns the conditions.
func (c *Conditions) List() []metav1.Condition { return c.list }

// Capital makes the first letter a capital, as a sentence begins.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Worse orders what is told of several attachments: what is on its way comes last.
func (o Outcome) Worse(than Outcome) bool {
	if pending := o.Reason == ReasonPending; pending != (than.Reason == ReasonPending) {
		return !pending
	}
	return o.Message < than.Message
}
