/*-------------------------------------------------------------------------
 *
 * test_penalty.c
 *	  Penalties: their order is that of what a child's area grows by, at any
 *	  scale, and the classes come in turn.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/penalty.h"
#include "core/simd/kernels.h"
#include "tap.h"

/* the classes of penalty.c, in their order; equal numbers are not told apart */
enum Class
{
	INSIDE,
	INSIDE_INFINITE,
	LENGTH,
	AREA,
	ONE_INFINITE,
	TWO_INFINITE,
	NEW_INFINITE
};

static const char *const class_name[] = {
	"inside",
	"inside of an infinite child",
	"growth without area",
	"growth of the area",
	"growth of a child with an infinite side",
	"growth of a child with more of them",
	"growth to infinity",
};

static bool
is_inside(const Box3 *child, const Box3 *added)
{
	return box3_contains(child, added);
}

static int
infinite_sides(const Box3 *b)
{
	int n = 0;

	for (int d = 0; d < 3; d++)
		n += isinf(box3_side(b, d)) && (isinf(b->lo[d]) || isinf(b->hi[d]));
	return n;
}

/* does a side become infinite, or infinite at its other end, too? */
static bool
adds_infinity(const Box3 *child, const Box3 *added)
{
	for (int d = 0; d < 3; d++)
		if ((added->lo[d] < child->lo[d] &&
			 (isinf(added->lo[d]) || isinf(child->lo[d]))) ||
			(added->hi[d] > child->hi[d] && (isinf(added->hi[d]) || isinf(child->hi[d]))))
			return true;
	return false;
}

static enum Class
class_of(const Box3 *child, const Box3 *added)
{
	int ninfinite = infinite_sides(child);
	Box3 both = *child;

	if (adds_infinity(child, added))
		return NEW_INFINITE;
	if (is_inside(child, added))
		return ninfinite > 0 ? INSIDE_INFINITE : INSIDE;
	if (ninfinite > 0)
		return ninfinite == 1 ? ONE_INFINITE : TWO_INFINITE;
	box3_include(&both, added);

	/* any area where there was none counts, even one that underflows */
	for (int d = 0; d < 3; d++)
		if (box3_side(&both, d) > 0 && box3_side(&both, (d + 1) % 3) > 0)
			return AREA;
	return LENGTH;
}

/*
 * Infinite, or within 2^-200 .. 2^200: beyond that a growth may be too small
 * beside the longest side to be seen at all.
 */
static double
unequal(Rng *rng)
{
	double x;

	switch (rng_below(rng, 8))
	{
		case 0:
			x = INFINITY;
			break;
		case 1:
			x = 0.0;
			break;
		case 2:
		case 3:
			x = rng_octave(rng, rng_int(rng, -200, 199));
			break;
		default:
			return rng_small(rng);
	}
	return rng_below(rng, 2) ? -x + 0.0 : x;
}

/* a child and a box to add to it; flat, collinear and nested ones are common */
static void
choose_boxes(Rng *rng, Box3 *child, Box3 *added)
{
	int nflat = rng_below(rng, 4);

	*child = rng_box(rng, unequal);
	*added = rng_box(rng, unequal);
	if (rng_below(rng, 4) == 0)
		box3_include(child, added);
	for (int d = rng_below(rng, 3); nflat > 0; nflat--, d = (d + 1) % 3)
	{
		child->hi[d] = child->lo[d];
		added->lo[d] = added->hi[d] = child->lo[d];
	}
}

/* ---------------------------------------------------------------- any boxes */

static void
is_a_rank(Rng *rng)
{
	for (int i = 0; i < 300000; i++)
	{
		Box3 child = rng_any_box(rng);
		Box3 added = rng_any_box(rng);
		float penalty = box3_penalty(&child, &added);

		/* comparisons are false for NaN */
		if (!(penalty >= 0.0f && penalty < 0x1p24f) || penalty != floorf(penalty) ||
			signbit(penalty))
		{
			FAIL("a penalty is a whole number of 24 bits");
			NOTE("%a", penalty);
			show_box("child", &child);
			show_box("added", &added);
			return;
		}
	}
	PASS("a penalty is a whole number of 24 bits");
}

static void
classes_come_in_turn(Rng *rng)
{
	int nseen[NEW_INFINITE + 1] = {0};
	float least[NEW_INFINITE + 1];
	float most[NEW_INFINITE + 1];

	for (int c = 0; c <= NEW_INFINITE; c++)
	{
		least[c] = INFINITY;
		most[c] = -INFINITY;
	}
	for (int i = 0; i < 200000; i++)
	{
		Box3 child;
		Box3 added;
		enum Class c;
		float penalty;
		int k = rng_int(rng, -750, 750);

		choose_boxes(rng, &child, &added);
		/* a class must not end before the next begins at any size */
		child = scale_box(&child, k);
		added = scale_box(&added, k);
		c = class_of(&child, &added);
		penalty = box3_penalty(&child, &added);
		nseen[c]++;
		least[c] = fminf(least[c], penalty);
		most[c] = fmaxf(most[c], penalty);
	}
	for (int c = 0; c <= NEW_INFINITE; c++)
		OK(nseen[c] > 500, "%s: occurs", class_name[c]);
	for (int c = 0; c < NEW_INFINITE; c++)
		OK(most[c] < least[c + 1],
		   "%s: better than %s (%.0f, %.0f)",
		   class_name[c],
		   class_name[c + 1],
		   most[c],
		   least[c + 1]);
}

/* 0 is the best there is, and means that nothing gets larger */
static void
zero_is_for_no_growth(Rng *rng)
{
	int nzero = 0;

	for (int i = 0; i < 200000; i++)
	{
		Box3 child;
		Box3 added;
		bool want;

		choose_boxes(rng, &child, &added);
		want = class_of(&child, &added) == INSIDE && box3_surface_area(&child) == 0;
		nzero += want;
		if ((box3_penalty(&child, &added) == 0.0f) != want)
		{
			FAIL("0 is for boxes inside of children without area");
			show_box("child", &child);
			show_box("added", &added);
			return;
		}
	}
	OK(nzero > 500, "0 is for boxes inside of children without area");
}

/* ---------------------------------------------------------------- area growth */

static double
area(const Box3 *b)
{
	double x = b->hi[0] - b->lo[0];
	double y = b->hi[1] - b->lo[1];
	double z = b->hi[2] - b->lo[2];

	return x * y + y * z + z * x;
}

static double
length(const Box3 *b)
{
	return (b->hi[0] - b->lo[0]) + (b->hi[1] - b->lo[1]) + (b->hi[2] - b->lo[2]);
}

/* whole numbers of any size below 2^20: areas are exact */
static double
whole(Rng *rng)
{
	return rng_below(rng, 1 << rng_int(rng, 1, 20));
}

/* what a penalty stands for, computed without any rounding */
static double
exact_growth(const Box3 *child, const Box3 *added, enum Class kind)
{
	Box3 both = *child;

	box3_include(&both, added);
	switch (kind)
	{
		case INSIDE:
			return area(child);
		case LENGTH:
			return length(&both) - length(child);
		default:
			return area(&both) - area(child);
	}
}

/* a child with a box to add, and what is known of that */
typedef struct Choice
{
	Box3 child;
	enum Class kind;
	double growth;
	float penalty;
} Choice;

/* by the definition: first the class, then the amount, as far as 10 bits tell */
static bool
is_ordered(const Choice *a, const Choice *b)
{
	if (a->kind != b->kind)
		return (a->kind < b->kind) == (a->penalty < b->penalty);
	if (a->growth == b->growth)
		return a->penalty == b->penalty;
	if (a->growth > b->growth)
		return is_ordered(b, a);
	if (a->growth < b->growth * (1 - 0x1p-9))
		return a->penalty < b->penalty;
	return a->penalty <= b->penalty;
}

static void
order_is_exact(Rng *rng)
{
	for (int i = 0; i < 300000; i++)
	{
		Box3 added = rng_box(rng, whole);
		Choice choice[2];

		for (int k = 0; k < 2; k++)
		{
			Choice *c = &choice[k];

			c->child = rng_box(rng, whole);
			/* half of the time the box is inside */
			if (rng_below(rng, 2))
				box3_include(&c->child, &added);
			c->kind = class_of(&c->child, &added);
			c->growth = exact_growth(&c->child, &added, c->kind);
			c->penalty = box3_penalty(&c->child, &added);
		}
		if (!is_ordered(&choice[0], &choice[1]))
		{
			FAIL("penalties are ordered as what they stand for");
			for (int k = 0; k < 2; k++)
			{
				NOTE("%s by %a: %.0f",
					 class_name[choice[k].kind],
					 choice[k].growth,
					 choice[k].penalty);
				show_box("child", &choice[k].child);
			}
			show_box("added", &added);
			return;
		}
	}
	PASS("penalties are ordered as what they stand for");
}

/* a growth of one bit beside an area of 10^12 would be lost in a difference */
static void
growth_does_not_cancel(void)
{
	Box3 child = make_box(0, 0, 0, 1e6, 1e6, 1e6);
	Box3 by_one_bit = make_box(0, 0, 0, 1e6, 1e6, nextafter(1e6, 2e6));
	Box3 by_two_bits = make_box(0, 0, 0, 1e6, nextafter(1e6, 2e6), nextafter(1e6, 2e6));
	Box3 by_much = make_box(0, 0, 0, 1e6, 1e6, 2e6);

	OK(box3_penalty(&child, &by_one_bit) > box3_penalty(&child, &child),
	   "growth by one bit is growth");
	OK(box3_penalty(&child, &by_two_bits) > box3_penalty(&child, &by_one_bit),
	   "and less than growth by two");
	OK(box3_penalty(&child, &by_much) > box3_penalty(&child, &by_two_bits),
	   "and than growth by much");
}

/* ---------------------------------------------------------------- scale */

/* how far the rank moves when all coordinates are multiplied by 2^k */
static int
shift_of(enum Class kind, float penalty, int k)
{
	switch (kind)
	{
		case INSIDE:
			/* no area is none at any scale */
			return penalty > 0 ? 2 * k * 1024 : 0;
		case AREA:
			return 2 * k * 1024;
		case LENGTH:
		case ONE_INFINITE:
		case TWO_INFINITE:
			return k * 1024;
		default:
			return 0;
	}
}

static void
is_scale_free(Rng *rng)
{
	for (int i = 0; i < 100000; i++)
	{
		int k = rng_int(rng, -900, 900);
		Box3 child = rng_box(rng, rng_below(rng, 2) ? rng_percent : rng_small);
		Box3 added = rng_box(rng, rng_below(rng, 2) ? rng_percent : rng_small);
		Box3 scaled_child;
		Box3 scaled_added;
		float penalty;

		if (rng_below(rng, 2))
			child.lo[i % 3] = -INFINITY;
		if (rng_below(rng, 4) == 0)
			child.hi[i / 3 % 3] = INFINITY;
		scaled_child = scale_box(&child, k);
		scaled_added = scale_box(&added, k);
		penalty = box3_penalty(&child, &added);
		penalty += shift_of(class_of(&child, &added), penalty, k);
		if (box3_penalty(&scaled_child, &scaled_added) != penalty)
		{
			FAIL("the ranks of a class move alike with the scale");
			NOTE("times 2^%d", k);
			show_box("child", &child);
			show_box("added", &added);
			return;
		}
	}
	PASS("the ranks of a class move alike with the scale");
}

/* where a float4 of the area would be 0, Infinity or NaN */
static void
huge_and_tiny(void)
{
	static const double sizes[] = {1e-300, 1e-160, 1e-23, 1, 1e19, 1e38, 1e160, 1e300};

	for (int i = 0; i < LENGTH_OF(sizes); i++)
	{
		double s = sizes[i];
		Box3 child = make_box(0, 0, 0, s, s, s);
		Box3 near = make_box(0, 0, 0, s, s, 2 * s);
		Box3 far = make_box(0, 0, 0, s, s, 4 * s);
		Box3 inside = make_box(0, 0, 0, s / 2, s, s);

		OK(box3_penalty(&child, &inside) < box3_penalty(&child, &near) &&
			   box3_penalty(&child, &near) < box3_penalty(&child, &far),
		   "boxes of size %g are told apart",
		   s);
		OK(box3_penalty(&inside, &inside) < box3_penalty(&child, &inside),
		   "the smaller of two children that hold it is better, size %g",
		   s);
	}
}

/* ---------------------------------------------------------------- infinity */

static void
infinite_children(void)
{
	const double inf = INFINITY;
	Box3 unit = make_box(0, 0, 0, 1, 1, 1);
	Box3 beam = make_box(0, 0, -inf, 1, 1, inf);
	Box3 plate = make_box(-inf, 0, -inf, inf, 1, inf);
	Box3 space = make_box(-inf, -inf, -inf, inf, inf, inf);
	Box3 aside = make_box(0, 3, 0, 1, 4, 1);
	Box3 far = make_box(0, 30, 0, 1, 40, 1);

	OK(box3_penalty(&unit, &unit) < box3_penalty(&beam, &unit) &&
		   box3_penalty(&beam, &unit) < box3_penalty(&plate, &unit) &&
		   box3_penalty(&plate, &unit) < box3_penalty(&space, &unit),
	   "a box inside goes where fewer sides are infinite");
	OK(box3_penalty(&space, &aside) < box3_penalty(&unit, &aside),
	   "no growth at all is better than any");
	OK(box3_penalty(&unit, &far) < box3_penalty(&beam, &aside),
	   "growth of a finite area is better than of an infinite one");
	OK(box3_penalty(&beam, &aside) < box3_penalty(&beam, &far),
	   "an infinite area prefers the smaller growth");
	OK(box3_penalty(&beam, &far) < box3_penalty(&plate, &aside),
	   "one infinite side comes before two");
	OK(box3_penalty(&plate, &far) < box3_penalty(&unit, &beam),
	   "a side must not become infinite when there is another way");
	OK(box3_penalty(&unit, &beam) < box3_penalty(&unit, &plate) &&
		   box3_penalty(&unit, &plate) < box3_penalty(&unit, &space),
	   "if it must, then as few as possible");
	OK(box3_penalty(&plate, &beam) < box3_penalty(&unit, &beam),
	   "infinite boxes go to infinite children");
}

/* ---------------------------------------------------------------- choosing */

#define NCHILDREN 137

/* the offsets of boxes in an array */
static void
set_offsets(uint16_t offset[NCHILDREN])
{
	for (int i = 0; i < NCHILDREN; i++)
		offset[i] = (uint16_t) (i * sizeof(Box3));
}

/* of one magnitude: beside a side of 1e300, the ranks lose a small growth */
static Box3
sized_box(Rng *rng, double size)
{
	Box3 box = rng_box(rng, rng_small);

	for (int d = 0; d < 3; d++)
	{
		box.lo[d] *= size;
		box.hi[d] *= size;
		if (rng_below(rng, 500) == 0)
			box.lo[d] = -INFINITY;
		if (rng_below(rng, 500) == 0)
			box.hi[d] = INFINITY;
	}
	return box;
}

/* no child has a better rank than the chosen one; ranks round, so one may be equal */
static void
choice_has_least_penalty(Rng *rng)
{
	static const double sizes[] = {1.0, 0x1p-1060, 0x1p-520, 0x1p510, 0x1p1010};
	Box3 children[NCHILDREN];
	uint16_t offset[NCHILDREN];
	int nwrong = 0;
	int ninside = 0;

	set_offsets(offset);
	for (int round = 0; round < 20000; round++)
	{
		int n = 1 + rng_below(rng, NCHILDREN);
		double size = sizes[rng_below(rng, LENGTH_OF(sizes))];
		Box3 added = sized_box(rng, size);
		float least = INFINITY;
		int chosen;

		for (int i = 0; i < n; i++)
		{
			children[i] = sized_box(rng, size);
			least = fminf(least, box3_penalty(&children[i], &added));
		}
		chosen = box3_choose((const char *) children,
							 offset,
							 n,
							 &added,
							 rng_below(rng, n));
		if (chosen < 0 || chosen >= n ||
			box3_penalty(&children[chosen], &added) > least + 1.0f)
			nwrong++;
		else
			ninside += box3_contains(&children[chosen], &added);
	}
	OK(nwrong == 0 && ninside > 1000, "the chosen child has the least penalty");
}

/* equal children take turns, or one of them would get all */
static void
equal_children_take_turns(void)
{
	Box3 children[NCHILDREN];
	uint16_t offset[NCHILDREN];
	Box3 added = make_box(0, 0, 0, 1, 1, 1);
	int nwrong = 0;

	set_offsets(offset);
	for (int i = 0; i < NCHILDREN; i++)
		children[i] = i % 5 == 2 ? make_box(0, 0, 0, 2, 2, 2)
								 : make_box(0, 0, 0, 3, 3, 3);
	for (int start = 0; start < NCHILDREN; start++)
	{
		int want = start;

		while (want % 5 != 2)
			want = (want + 1) % NCHILDREN;
		nwrong += box3_choose((const char *) children,
							  offset,
							  NCHILDREN,
							  &added,
							  start) != want;
	}
	OK(nwrong == 0, "the first of equal children from the start is chosen");
}

int
main(void)
{
	Rng rng = rng_start();

	is_a_rank(&rng);
	classes_come_in_turn(&rng);
	zero_is_for_no_growth(&rng);
	order_is_exact(&rng);
	growth_does_not_cancel();
	is_scale_free(&rng);
	huge_and_tiny();
	infinite_children();
	for (size_t i = 0; i < bvh_kernels_count(); i++)
		if (bvh_kernels_nth(i) != NULL)
		{
			NOTE("%s", bvh_kernels_nth(i)->name);
			bvh_kernels_use(bvh_kernels_nth(i));
			choice_has_least_penalty(&rng);
			equal_children_take_turns();
		}
	return tap_done();
}
