// Package support gathers what somebody needs who is to find out, elsewhere, what is wrong with a zonefold: a bundle of
// versions, objects, events, logs and metrics, without a secret. What the person may not read is missing, and listed.
package support
