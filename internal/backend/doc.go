// Package backend delivers zones. It holds the contract that every kind of server is reached by (Backend, Limits, the
// error classes) and the engine that drives it: a feed for each zone, which labels contents with serials, and a worker
// for each target, which plans, splits, sends, verifies and reports.
package backend
