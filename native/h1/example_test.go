package h1_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"minilb/native/h1"
)

func ExampleClient() {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", r.URL.Path, r.Host)
	}))
	defer backend.Close()

	client := &h1.Client{
		MaxIdle:  32,
		IdleFor:  90 * time.Second,
		Timeouts: h1.Timeouts{Connect: time.Second, Head: 30 * time.Second, Body: 30 * time.Second},
	}
	defer client.Close()

	response, failure := client.Do(context.Background(), backend.Listener.Addr().String(), &h1.Request{
		Method: "GET", Target: "/index.html", Host: "www.example.com",
	})
	if failure != nil {
		fmt.Println(failure, "- safe to repeat:", !failure.Sent)
		return
	}
	body, err := io.ReadAll(response)
	response.Close() // read to its end: the connection rests for the next request
	fmt.Println(response.Status, string(body), err, client.Idle())
	// Output: 200 /index.html for www.example.com <nil> 1
}
