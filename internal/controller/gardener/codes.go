package gardener

import (
	"errors"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
)

// codesOf returns how Gardener calls an error. What has no code is tried again by Gardener; that a service asks to wait
// has none on purpose: the code for it would end the shoot's whole flow.
func codesOf(err error) []v1alpha1.ErrorCode {
	detail, _ := errors.AsType[*backend.Error](err)
	if detail == nil {
		detail = &backend.Error{}
	}
	switch detail.Cause {
	case backend.CauseUnauthenticated:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthenticated}
	case backend.CauseUnauthorised:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}
	case backend.CauseQuota:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorQuotaExceeded}
	case backend.CauseInvalid, backend.CauseUnsupported:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}
	}
	switch backend.Class(err) {
	case backend.ErrNotAuthorised:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}
	case backend.ErrNoZone, backend.ErrHeld, backend.ErrTooLarge:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}
	case backend.ErrRejected:
		if detail.Temporary {
			return []v1alpha1.ErrorCode{v1alpha1.ErrorRetryableDependencies}
		}
		return []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}
	case backend.ErrUnavailable:
		return []v1alpha1.ErrorCode{v1alpha1.ErrorRetryableDependencies}
	}
	return nil
}

// passing reports whether an error only means to wait: nothing has failed yet.
func passing(err error) bool {
	if detail, ok := errors.AsType[*backend.Error](err); ok && detail.Cause != "" {
		return false
	}
	class := backend.Class(err)
	return class == backend.ErrThrottled || class == backend.ErrConflict
}

// hopeful reports whether an error may be over in a moment.
func hopeful(err error) bool {
	detail, _ := errors.AsType[*backend.Error](err)
	return passing(err) || detail != nil && detail.Temporary || backend.Class(err) == backend.ErrUnavailable
}
