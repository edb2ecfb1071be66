//go:build unix

package front

import (
	"log"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// A field is one line of a head, or several of the same name.
type field struct {
	name   string
	values []string
}

// interim sends a 1xx, as it is.
func (a *answer) interim(status int) {
	a.out = appendStatus(a.out, status)
	for _, f := range a.sorted() {
		if !framesMessage(f.name) {
			a.out = appendField(a.out, f)
		}
	}
	a.out = append(a.out, "\r\n"...)
	_ = a.flush()
}

// final writes the head of the answer. How the body's end is known is decided
// here, and never taken from a field alone.
func (a *answer) final(status int) {
	a.status = status
	a.frame()
	a.announce()
	said := hasWord(strings.Join(a.header["Connection"], ","), "close")
	a.close = a.close || said || a.c.server.closing.Load()
	a.out = appendStatus(a.out, status)
	for _, f := range a.sorted() {
		if a.passes(f.name, said) {
			a.out = appendField(a.out, f)
		}
	}
	if a.header["Date"] == nil {
		a.out = append(a.out, a.c.server.today()...)
	}
	if a.close && !said {
		a.out = append(a.out, "Connection: close\r\n"...)
	}
	a.out = append(a.appendFraming(a.out), "\r\n"...)
}

// passes says whether a field goes out as it is. said: that the connection is
// closed is among the fields.
func (a *answer) passes(name string, said bool) bool {
	switch name {
	case "Connection":
		return said || !a.close
	case "Content-Type":
		return a.status != http.StatusNotModified // net/http leaves it out
	}
	return !framesMessage(name)
}

// framesMessage names the fields that say where a message ends, in whatever
// case somebody has put them into the map.
func framesMessage(name string) bool {
	return equalFold(name, "content-length") || equalFold(name, "transfer-encoding")
}

// bodiless says whether an answer of a status never has a body.
func bodiless(status int) bool {
	return status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
}

// frame decides how the body ends.
func (a *answer) frame() {
	a.framed, a.left = byNothing, 0
	if bodiless(a.status) {
		return
	}
	a.framed = byChunks
	if lengths := a.header["Content-Length"]; len(lengths) > 0 {
		if n, ok := parseLength(lengths[0]); ok {
			a.framed, a.left = byLength, n
		}
	}
}

// appendFraming says it. The answer to a HEAD says what it knows.
func (a *answer) appendFraming(b []byte) []byte {
	switch {
	case a.framed == byLength:
		return append(strconv.AppendInt(append(b, "Content-Length: "...), a.left, 10), "\r\n"...)
	case a.framed == byChunks && !a.head:
		return append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return b
}

// announce remembers which fields are trailers.
func (a *answer) announce() {
	for _, line := range a.header["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.CanonicalMIMEHeaderKey(trim(name)); mayTrail(name) {
				a.later = append(a.later, name)
			}
		}
	}
}

// mayTrail says whether a field can come after the body: those that one must
// know before cannot (RFC 9110 section 6.5.1).
func mayTrail(name string) bool {
	switch name {
	case "", "Host", "Content-Length", "Transfer-Encoding", "Trailer":
		return false
	}
	return all(name, inToken)
}

// trailers writes those that were announced, and those that were marked as
// such with http.TrailerPrefix.
func (a *answer) trailers(b []byte) []byte {
	for _, name := range a.later {
		b = appendField(b, field{name, a.header[name]})
	}
	for _, f := range a.sortedAll() {
		if name, is := strings.CutPrefix(f.name, http.TrailerPrefix); is && mayTrail(textproto.CanonicalMIMEHeaderKey(name)) {
			b = appendField(b, field{name, f.values})
		}
	}
	return b
}

// sorted are the fields of the head by name, so that two answers that say the
// same look the same.
func (a *answer) sorted() []field {
	all := a.sortedAll()
	kept := all[:0]
	for _, f := range all {
		if !strings.HasPrefix(f.name, http.TrailerPrefix) {
			kept = append(kept, f)
		}
	}
	return kept
}

// sortedAll sorts by insertion: there are few.
func (a *answer) sortedAll() []field {
	a.fields = a.fields[:0]
	for name, values := range a.header {
		if len(values) == 0 {
			continue
		}
		a.fields = append(a.fields, field{})
		i := len(a.fields) - 1
		for ; i > 0 && a.fields[i-1].name > name; i-- {
			a.fields[i] = a.fields[i-1]
		}
		a.fields[i] = field{name, values}
	}
	return a.fields
}

// appendField writes a field's lines. What could end a line early is written
// as a space, and what is no name not at all.
func appendField(b []byte, f field) []byte {
	if !all(f.name, inToken) {
		return b
	}
	for _, value := range f.values {
		b = append(append(b, f.name...), ": "...)
		at := len(b)
		b = append(b, trim(value)...)
		if !all(value, inValue) {
			for i := at; i < len(b); i++ {
				if bytesOf[b[i]]&inValue == 0 {
					b[i] = ' '
				}
			}
		}
		b = append(b, "\r\n"...)
	}
	return b
}

// appendStatus writes a status line.
func appendStatus(b []byte, status int) []byte {
	if status == http.StatusOK {
		return append(b, "HTTP/1.1 200 OK\r\n"...)
	}
	b = append(strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10), ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = strconv.AppendInt(append(b, "status code "...), int64(status), 10)
	}
	return append(b, "\r\n"...)
}

// A date is the line that says when an answer was made, for one second.
type date struct {
	second int64
	line   string
}

// today is that line for now.
func (s *Server) today() string {
	now := time.Now()
	if d := s.date.Load(); d != nil && d.second == now.Unix() {
		return d.line
	}
	d := &date{now.Unix(), "Date: " + now.UTC().Format(http.TimeFormat) + "\r\n"}
	s.date.Store(d)
	return d.line
}

func (s *Server) logf(format string, args ...any) {
	if s.ErrorLog != nil {
		s.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// refuse answers a request that can be read in two ways.
func (c *conn) refuse() {
	const line = "400 Bad Request: both Content-Length and Transfer-Encoding"
	c.answer.begin()
	c.answer.out = append(c.answer.out, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"+line...)
	_ = c.answer.flush()
}
