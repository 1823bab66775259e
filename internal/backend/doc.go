// Package backend is the contract by which every kind of server is reached: Backend with what it is given and returns,
// Limits, the classes of errors, and Accounts of services. Below it are the kinds of servers, and package engine, which
// drives them.
package backend
