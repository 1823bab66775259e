// Package backend is the contract by which every kind of server is reached: Backend and what it is told and tells,
// Limits, the classes of errors, and Accounts of services. Below it are the kinds of servers, and package engine, which
// drives them.
package backend
