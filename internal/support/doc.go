// Package support gathers what somebody elsewhere needs to find out what is wrong with zonefold: a bundle of versions,
// objects, events, logs and metrics, without a secret. What the person may not read is missing, and listed.
package support
