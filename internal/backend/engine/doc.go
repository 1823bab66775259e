// Package engine delivers zones through any Backend. It has a feed for each zone, which labels contents with serials,
// and a worker for each target, which plans, splits, sends, verifies and reports. It knows no kind of server.
package engine
