package retry_test

import (
	"fmt"

	"minilb/core/lb"
	"minilb/core/retry"
)

// A shell asks after each attempt what comes next, and does it.
func ExampleLife() {
	config := retry.Config{Retries: 1, RetryOn: []string{"connect-failure", "gateway-error"}, MinRetryConcurrency: 3}
	plan, err := config.Plan()
	if err != nil {
		panic(err)
	}
	budget, pool := retry.NewBudget(config), newPool(2)

	life := plan.Begin(budget, "GET", lb.Never)
	defer life.End()
	for _, outcome := range []lb.Outcome{{Status: 503}, {Status: 200}} {
		lease, err := pool.Acquire(0, lb.Query{Tried: life.Tried})
		if err != nil {
			panic(err)
		}
		life.Sent(0, lease)
		pool.Release(0, lease, outcome)
		next := life.After(0, outcome, 0)
		fmt.Println(lease.Name(), outcome, "try again:", next.Do == retry.Try)
	}
	// Output:
	// a 503 try again: true
	// b 200 try again: false
}

// A plan says no in words.
func ExamplePlan() {
	plan, err := retry.Config{Retries: 1, RetryOn: []string{"5xx"}}.Plan()
	if err != nil {
		panic(err)
	}
	life := plan.Begin(retry.NewBudget(retry.Config{}), "POST", lb.Never)
	defer life.End()
	fmt.Println(life.After(0, lb.Outcome{Status: 500}, 0).Note)
	// Output: not retried: POST is not idempotent
}

// An unknown trigger is refused with the ones that exist.
func ExampleConfig() {
	_, err := retry.Config{RetryOn: []string{"5xx", "bad-day"}}.Plan()
	fmt.Println(err)
	// Output: retry-on=bad-day: unknown; accepted: connect-failure, gateway-error, 5xx, timeout
}

// Twenty percent of thirty requests in flight are six retries.
func ExampleBudget() {
	budget := retry.NewBudget(retry.Config{BudgetPercent: 20, MinRetryConcurrency: 3})
	fmt.Println(budget.Limit())
	for range 30 {
		budget.Enter()
	}
	fmt.Println(budget.Limit())
	// Output:
	// 3
	// 6
}

// A retry that finds no room may wait for it, in order.
func ExampleSlot() {
	budget := retry.NewBudget(retry.Config{MinRetryConcurrency: 1})
	budget.Take()
	slot := retry.Slot{Wake: func() { fmt.Println("room") }}
	budget.Enqueue(&slot)
	budget.Give()
	fmt.Println("granted:", budget.Abandon(&slot))
	// Output:
	// room
	// granted: true
}

// A switch over Do is all of a shell's retry logic.
func ExampleDo() {
	act := func(a retry.Action) string {
		switch a.Do {
		case retry.Try:
			return "another backend, now"
		case retry.Wait:
			return "another backend, at " + a.At.String()
		case retry.Queue:
			return "wait for room until " + a.At.String()
		}
		return "send the answer"
	}
	fmt.Println(act(retry.Action{Do: retry.Wait, At: 25 * ms}))
	fmt.Println(act(retry.Action{Do: retry.Finish}))
	// Output:
	// another backend, at 0.025
	// send the answer
}

// A failure that is not retried says why, for the client's x-minilb-note.
func ExampleAction() {
	config := retry.Config{Retries: 1, RetryOn: []string{"gateway-error"}} // no room in the budget
	plan, err := config.Plan()
	if err != nil {
		panic(err)
	}
	life := plan.Begin(retry.NewBudget(config), "GET", lb.Never)
	defer life.End()
	next := life.After(0, lb.Outcome{Status: 502}, 0)
	fmt.Println(next.Do == retry.Finish, next.Note)
	// Output: true not retried: retry budget exhausted
}

// Methods are case-sensitive, and an unknown one is not safe.
func ExampleIdempotent() {
	fmt.Println(retry.Idempotent("PUT"), retry.Idempotent("POST"), retry.Idempotent("get"))
	// Output: true false false
}
