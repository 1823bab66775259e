package sources

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/zonefold/zonefold/internal/zone"
)

// Unreadable is the reason of an event about a source that cannot be listed.
const Unreadable zone.Reason = "SourceUnreadable"

// CannotRead says, for people, that objects of a kind cannot be read and what that means, if sources that are on need
// them. The kind is a Go type, such as "*v1.Service". It says nothing of an API server that does not answer, or has no
// time: that passes, and it hears of no events then.
func CannotRead(kind string, on []string, why error) (message string, is bool) {
	kind = goType(kind)
	var about *apierrors.StatusError
	passes := apierrors.IsResourceExpired(why) || apierrors.IsGone(why) || apierrors.IsTooManyRequests(why)
	gone := meta.IsNoMatchError(why) || errors.Is(why, errBeingDeleted)
	blind := needing(kind, on)
	if !gone && (passes || !errors.As(why, &about)) || len(blind) == 0 {
		return "", false
	}
	_, plain, _ := strings.Cut(kind, ".")
	return fmt.Sprintf("Objects of kind %s, which the sources need (%s), cannot be read: %v. Their published records "+
		"stay as they are; let the operator read them, install their API, or remove the sources from --source.", plain,
		strings.Join(blind, ", "), why), true
}
