package engine

import (
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Report says how an attachment to a target stands. It is sent when that has changed, and says all of it again.
type Report struct {
	Target  backend.TargetKey
	Name    string // of the attachment
	Version uint64 // likewise
	Feed    string // FeedConfig.ID

	// Seq is the newest sequence number of Feed.Publish whose content the target has confirmed, apart from Refused sets;
	// 0 when none has. Under Observe it is the one that the Difference is about.
	Seq uint64

	// Serial that the target serves; 0 when it is not known or the server shows none.
	Serial uint32

	// Given is the serial that the target was last given by this engine; 0 when it was given none. It is the target's
	// serial unless somebody else has written since.
	Given uint32

	// Err is why the last attempt failed, of a class (see Class); nil when it did not. What Seq says stays true as far
	// as anybody knows.
	Err error

	// Taken says that the last attempt failed when the target had taken some of what it was sent.
	Taken bool

	// Refused are the sets that the target does not take. For such a key the target keeps what it had. The map never
	// changes.
	Refused map[rr.Key]Refusal

	// Lingering are the refused deletions: sets that the target still holds although nobody wants them any more. They stay
	// in the ledger.
	Lingering []rr.Key

	// Foreign counts the sets of other writers that were left alone, as of the last whole reading.
	Foreign int

	// Untaken counts those of the Foreign sets whose owner's place zonefold takes (Attachment.Registry), and that no
	// object wants.
	Untaken int

	// Held is what the protection of the target keeps it from, which is among Refused; nil: nothing. It never changes.
	Held *Held

	// Difference is what Observe found; nil in Sync mode.
	Difference *Difference

	// Withdrawn says that nothing of what zonefold wrote is left in the target on this attachment's behalf; the
	// attachment is gone and this was its last report.
	Withdrawn bool
}

// A Refusal says why a target does not take a set.
type Refusal struct {
	Reason    string        // in words for people: the server's own where it has any
	Cause     backend.Cause // "" when the server did not tell
	Temporary bool          // it is tried again after a while
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// reported is what an attachment was told last, so that it hears only news.
type reported struct {
	seq                 uint64
	serial              uint32
	class               backend.ErrorClass
	err                 string
	refused, difference int // generations
	foreign, untaken    int
	withdrawn           bool
	taken               bool
	held                int // generation
}
