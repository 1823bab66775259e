// Command answer runs in pods of tests. On port 7070 it reads one line from each connection: an empty one is answered
// with a Secret, any other one is an address, which it connects to and tells how that went. With an argument it prints
// that and ends.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Println(os.Args[1])
		return
	}
	l, err := net.Listen("tcp", ":7070")
	if err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	fmt.Fprintln(conn, answer(strings.TrimSpace(line)))
}

func answer(address string) string {
	if address == "" {
		text, err := os.ReadFile("/secret/text")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	other, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return err.Error()
	}
	other.Close()
	return "connected"
}
