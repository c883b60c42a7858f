"""Contrast of colors by WCAG 2.2."""

import numpy as np


def luminance(color):
    """Relative luminance, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    part = np.array(color[:3]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(color, other):
    light, dark = sorted([luminance(color), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)
