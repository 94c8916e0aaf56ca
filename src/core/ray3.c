/*-------------------------------------------------------------------------
 *
 * ray3.c
 *	  Which boxes a moving box meets, and when.
 *
 * The moving box and another one meet at a time t if on every axis neither is
 * past the other.  On an axis along which it moves, that is an interval of
 * times,
 *
 *		(gap to the near side) / speed <= t <= (gap to the far side) / speed,
 *
 * and [0, tmax] is one more.  They meet if all intervals have a time in
 * common, that is, if no interval starts after another one has ended.
 *
 * ray3_meets() answers that as if it computed without rounding: a ray in a
 * face, along an edge or through a corner hits, whatever the numbers are, and
 * one that passes by the least amount does not.  A box that contains another
 * is therefore met when the other one is, so the test serves inner nodes as
 * it is.
 *
 * The time of entry is rounded, twice: a gap, divided by a speed.  Both are
 * monotone in the bounds of the box, as are the largest of several and the
 * limits at 0 and tmax.  So a box that contains another is entered no later,
 * which index scans rely on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/ray3.h"

#include <float.h>
#include <string.h>

#include "core/exact.h"

/* an interval of times from (from[0] - from[1]) / speed to (to[0] - to[1]) / speed */
typedef struct Passage
{
	double from[2];
	double to[2];
	double speed; /* > 0 */
} Passage;

/*
 * ray3_make --- a moving box of two opposite corners
 *
 * The ray is undefined unless the result is RAY3_OK.
 */
Ray3Problem
ray3_make(const double p[3], const double q[3], const double direction[3], double tmax,
		  Ray3 *ray)
{
	bool moves = false;

	if (!box3_from_corners(p, q, &ray->box) || isnan(tmax))
		return RAY3_NAN;
	for (int d = 0; d < 3; d++)
	{
		if (isnan(direction[d]))
			return RAY3_NAN;
		if (isinf(ray->box.lo[d]) || isinf(ray->box.hi[d]))
			return RAY3_INFINITE_START;
		if (isinf(direction[d]))
			return RAY3_INFINITE_DIRECTION;
		/* in round-to-nearest, -0 + 0 is +0 and every other value stays */
		ray->direction[d] = direction[d] + 0.0;
		moves |= direction[d] != 0.0;
	}
	if (tmax < 0.0)
		return RAY3_NEGATIVE_TMAX;
	if (!moves && isinf(tmax))
		return RAY3_STANDS_STILL;
	ray->tmax = tmax + 0.0;
	return RAY3_OK;
}

/* ray3_problem_text --- a sentence about it */
const char *
ray3_problem_text(Ray3Problem problem)
{
	switch (problem)
	{
		case RAY3_OK:
			break;
		case RAY3_NAN:
			return "A number of a ray must not be NaN.";
		case RAY3_INFINITE_START:
			return "A ray must start at a finite place.";
		case RAY3_INFINITE_DIRECTION:
			return "The direction of a ray must be finite.";
		case RAY3_NEGATIVE_TMAX:
			return "The end of a ray must not be negative.";
		case RAY3_STANDS_STILL:
			return "The direction of a ray without end must not be zero.";
	}
	return "";
}

bool
ray3_equal(const Ray3 *a, const Ray3 *b)
{
	/* neither NaN nor -0 */
	return memcmp(a, b, sizeof(Ray3)) == 0;
}

/* when the ray passes the box on an axis along which it moves */
static inline Passage
passage(const Ray3 *ray, const Box3 *b, int d)
{
	Passage p = {{b->lo[d], ray->box.hi[d]},
				 {b->hi[d], ray->box.lo[d]},
				 ray->direction[d]};

	if (ray->direction[d] < 0.0)
		p = (Passage){{ray->box.lo[d], b->hi[d]},
					  {ray->box.hi[d], b->lo[d]},
					  -ray->direction[d]};
	return p;
}

/* does a start before or when b ends, at a time >= 0?  Without rounding. */
static bool
starts_in_time(const Passage *a, const Passage *b)
{
	/* bounds of boxes and tmax may be infinite; a box at infinity is never met */
	if (isinf(a->from[0]) || isinf(a->from[1]))
		return a->from[0] < a->from[1];
	/* what ends before time 0 has been dismissed */
	if (isinf(b->to[0]) || isinf(b->to[1]))
		return true;
	return exact_sign((const double[]){a->from[0], a->from[1], b->to[0], b->to[1]},
					  (const double[]){b->speed, -b->speed, -a->speed, a->speed}) <= 0;
}

/* ray3_meets() where floating point leaves a doubt */
static bool
meets_without_rounding(const Ray3 *ray, const Box3 *b)
{
	Passage passages[4] = {{{0.0, 0.0}, {ray->tmax, 0.0}, 1.0}};
	int n = 1;

	for (int d = 0; d < 3; d++)
		if (ray->direction[d] != 0.0)
			passages[n++] = passage(ray, b, d);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j && !starts_in_time(&passages[i], &passages[j]))
				return false;
	return true;
}

/*
 * ray3_meets --- does the moving box meet the other one by the time tmax?
 */
bool
ray3_meets(const Ray3 *ray, const Box3 *b)
{
	double start = 0.0;
	double end = ray->tmax;
	double doubt;
	bool is_in_range = true;

	for (int d = 0; d < 3; d++)
	{
		Passage p;
		double to_near;
		double to_far;

		if (ray->direction[d] == 0.0)
		{
			if (b->lo[d] > ray->box.hi[d] || b->hi[d] < ray->box.lo[d])
				return false;
			continue;
		}
		p = passage(ray, b, d);
		to_near = p.from[0] - p.from[1];
		to_far = p.to[0] - p.to[1];

		/* the sign of a difference is never rounded away */
		if (to_far < 0.0)
			return false;
		is_in_range &= fabs(to_near) <= DBL_MAX && to_far <= DBL_MAX;
		start = to_near / p.speed > start ? to_near / p.speed : start;
		end = to_far / p.speed < end ? to_far / p.speed : end;
	}

	/*
	 * Either is off by at most two halves of an ulp, or half the least double.
	 * Where a quotient is Infinity so is the doubt, and nothing exceeds that.
	 */
	doubt = (start + end) * 0x1p-51 + 0x1p-1070;
	if (is_in_range && end - start > doubt)
		return true;
	if (is_in_range && start - end > doubt)
		return false;
	return meets_without_rounding(ray, b);
}

/* ray3_probe --- what tells quickly of most boxes that the ray does not meet them */
void
ray3_probe(const Ray3 *ray, RayProbe *probe)
{
	int other = ray->direction[0] != 0.0 ? 0 : ray->direction[1] != 0.0 ? 1 : 2;

	probe->tmax = ray->tmax;
	for (int i = 0; i < 3; i++)
	{
		int d = ray->direction[i] != 0.0 ? i : other;
		bool is_up = ray->direction[d] > 0.0;

		probe->pace[i] = 1.0 / ray->direction[d];
		probe->near_lane[i] = is_up ? d : d + 3;
		probe->far_lane[i] = is_up ? d + 3 : d;
		probe->near_at[i] = is_up ? ray->box.hi[d] : ray->box.lo[d];
		probe->far_at[i] = is_up ? ray->box.lo[d] : ray->box.hi[d];
	}
}

/* may a box be met that overlaps ray3_bounds()? */
static inline bool
may_meet(const RayProbe *probe, const Box3 *b)
{
	const double lane[6] = {b->lo[0], b->lo[1], b->lo[2], b->hi[0], b->hi[1], b->hi[2]};
	double start = 0.0;
	double end = probe->tmax;

	for (int i = 0; i < 3; i++)
	{
		double enter = (lane[probe->near_lane[i]] - probe->near_at[i]) * probe->pace[i];
		double leave = (lane[probe->far_lane[i]] - probe->far_at[i]) * probe->pace[i];

		start = enter > start ? enter : start;
		end = leave < end ? leave : end;
	}
	return ray3_may_meet(start, end);
}

/*
 * ray3_select --- which of the n selected boxes of a page the ray meets
 *
 * Box i is at base + offset[i], aligned to 8 bytes; all overlap ray3_bounds().
 * Their numbers are in selected, and those of the boxes that are met stay in
 * it, in the same order; returns how many.
 */
int
ray3_select(const Ray3 *ray, const RayProbe *probe, const char *base,
			const uint16_t *offset, uint16_t *selected, int n)
{
	int ncandidates = 0;
	int nmet = 0;

	for (int i = 0; i < n; i++)
	{
		const Box3 *b = (const Box3 *) (base + offset[selected[i]]);
		bool may = may_meet(probe, b);

		selected[ncandidates] = selected[i];
		ncandidates += may;
	}
	for (int i = 0; i < ncandidates; i++)
	{
		selected[nmet] = selected[i];
		nmet += ray3_meets(ray, (const Box3 *) (base + offset[selected[i]]));
	}
	return nmet;
}

/*
 * ray3_entry --- when the moving box first meets the other one: 0 when it does
 * from the start, Infinity when it never does, else in [0, tmax]
 */
double
ray3_entry(const Ray3 *ray, const Box3 *b)
{
	double entry = 0.0;

	if (!ray3_meets(ray, b))
		return INFINITY;
	for (int d = 0; d < 3; d++)
	{
		Passage p;
		double gap;
		double t;

		if (ray->direction[d] == 0.0)
			continue;
		p = passage(ray, b, d);
		gap = p.from[0] - p.from[1];
		t = gap / p.speed;
		/* what overflows has room at half the size, and is no less than before */
		if (gap > DBL_MAX)
			t = (0.5 * p.from[0] - 0.5 * p.from[1]) / (0.5 * p.speed);
		entry = t > entry ? t : entry;
	}

	/* rounded past the end, or farther than a double can say */
	entry = entry < ray->tmax ? entry : ray->tmax;
	return entry < DBL_MAX ? entry : DBL_MAX;
}

/*
 * ray3_until --- the same, to an end at which it has met all that ray3_entry() says
 * it meets by the time t >= 0
 *
 * A time of entry is rounded twice, by half an ulp each, or half the least double:
 * three steps up are more.
 */
void
ray3_until(const Ray3 *ray, double t, Ray3 *until)
{
	BVH_ASSERT(t >= 0.0);
	for (int i = 0; i < 3; i++)
		t = nextafter(t, INFINITY);
	*until = *ray;
	if (t < until->tmax)
		until->tmax = t;
}

/*
 * ray3_bounds --- a box around all that the moving box passes through, rounded
 * outward; every box that is met overlaps it
 */
void
ray3_bounds(const Ray3 *ray, Box3 *bounds)
{
	*bounds = ray->box;
	for (int d = 0; d < 3; d++)
	{
		double way = ray->direction[d] * ray->tmax;

		if (ray->direction[d] > 0.0)
			bounds->hi[d] = nextafter(ray->box.hi[d] + nextafter(way, INFINITY),
									  INFINITY) +
							0.0;
		else if (ray->direction[d] < 0.0)
			bounds->lo[d] = nextafter(ray->box.lo[d] + nextafter(way, -INFINITY),
									  -INFINITY) +
							0.0;
	}
}
