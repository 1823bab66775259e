package backends

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
)

// MaxLeft is how many zones a Backend lists that were left behind, and MaxLeftText how many bytes their sets take
// together: an object of the cluster has 1.5 MiB at most.
const MaxLeft, MaxLeftText = 1000, 512 << 10

// LeaveAfter is how long a deleted Zone waits for servers that cannot be reached where its Backend does not say.
const LeaveAfter = 15 * time.Minute

// LeaveBehindAfter returns how long that is.
func LeaveBehindAfter(spec *metav1.Duration) time.Duration {
	if spec == nil {
		return LeaveAfter
	}
	return spec.Duration
}

// Leave returns a list with an entry for one more zone, of which the sets are listed for which there is room. One that
// is listed already stays as it was.
func Leave(list []v1alpha1.LeftBehind, entry v1alpha1.LeftBehind, sets rr.Sets) ([]v1alpha1.LeftBehind, error) {
	for i := range list {
		if list[i].FQDN == entry.FQDN && list[i].UID == entry.UID {
			return list, nil
		}
	}
	if len(list) >= MaxLeft {
		return nil, fmt.Errorf("it already lists %d zones that were left behind, and has no room for more; make its "+
			"servers reachable, or remove entries from its status", len(list))
	}
	room := MaxLeftText
	for i := range list {
		room -= len(list[i].Text)
	}
	var text strings.Builder
	for set := range sets.All() {
		entry.Sets++
		lines := linesOf(set)
		if len(lines) > room {
			entry.Unlisted++
			continue
		}
		room -= len(lines)
		text.WriteString(lines)
	}
	entry.Text = text.String()
	out := append(slices.Clone(list), entry)
	slices.SortFunc(out, func(a, b v1alpha1.LeftBehind) int {
		return cmp.Or(strings.Compare(a.FQDN, b.FQDN), strings.Compare(string(a.UID), string(b.UID)))
	})
	return out, nil
}

// linesOf returns a set as EntriesIn reads it.
func linesOf(set rr.Set) string {
	var b strings.Builder
	for _, data := range set.Data {
		fmt.Fprintf(&b, "%s %d IN %s %s\n", set.Name, set.TTL, set.Type, data)
	}
	return b.String()
}

// LeftSets returns the sets that an entry lists.
func LeftSets(entry *v1alpha1.LeftBehind) rr.Sets {
	txn := rr.Sets{}.Txn()
	kubizone.PutEntries(txn, kubizone.EntriesIn(entry.Text))
	return txn.Sets()
}
